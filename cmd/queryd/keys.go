package main

// KeysCmd manages API keys.
type KeysCmd struct {
	Create KeysCreateCmd `cmd:"" help:"Make a key and print it, once."`
	List   KeysListCmd   `cmd:"" help:"List the keys, without their secrets."`
	Revoke KeysRevokeCmd `cmd:"" help:"Make a key invalid. It takes a few seconds to reach every queryd."`
}
