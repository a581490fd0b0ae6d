package mongodb

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/mongo"
)

// raced is a duplicate key on _id: two upserts met, and the server gave up
// trying again. One of them has won; the next try finds its document.
func raced(we mongo.WriteError) bool {
	if we.Code != codeDuplicate {
		return false
	}
	keys, ok := we.Raw.Lookup("keyPattern").DocumentOK()
	if !ok {
		return false
	}
	_, err := keys.LookupErr("_id")
	return err == nil
}

func reasonOf(code int) Reason {
	switch code {
	case codeTooLarge, 17419, 17420, 17280: // 16 MiB, after the update, or an index key
		return TooLarge
	case codeInvalid:
		return Invalid
	}
	return Refused
}

// refusal says why a document was refused without quoting its values, which
// the server's own message does.
func refusal(we mongo.WriteError) error {
	switch reasonOf(we.Code) {
	case TooLarge:
		return fmt.Errorf("it is larger than MongoDB's limit of 16 MiB (code %d)", we.Code)
	case Invalid:
		return errors.New("the collection's validator refuses it (code 121); a validator must also admit tombstones")
	}
	if we.Code == codeDuplicate {
		return errors.New("a unique index refuses it (code 11000); drop that index, for it blocks deletes and swaps of values")
	}
	return fmt.Errorf("MongoDB refuses it (code %d)", we.Code)
}
