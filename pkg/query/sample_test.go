package query

import (
	"bytes"
	"errors"
	"net/url"
	"testing"

	"prejoin/pkg/readmodel"
)

// sample is a model with every type in its access patterns.
func sample() *readmodel.Model {
	return &readmodel.Model{
		Name: "settlement", Version: 1, ID: "settlementId", Shape: "abc",
		Scope: []readmodel.Scope{{Name: "merchant", Field: "merchantId"}, {Name: "partner", Field: "partnerId"}},
		Fields: []readmodel.Field{
			{Name: "settlementId", Type: readmodel.Int64},
			{Name: "orderNo", Type: readmodel.Text},
			{Name: "merchantId", Type: readmodel.Int64},
			{Name: "partnerId", Type: readmodel.Int64},
			{Name: "paidAt", Type: readmodel.Timestamp},
			{Name: "payDue", Type: readmodel.Date},
			{Name: "status", Type: readmodel.Enum, Values: []readmodel.EnumValue{{Value: "PAID"}, {Value: "HELD"}, {Value: "SCHEDULED"}}},
			{Name: "amount", Type: readmodel.Decimal, Scale: 2},
			{Name: "refund", Type: readmodel.Bool},
			{Name: "accountNo", Type: readmodel.Text, PII: &readmodel.PII{Kind: "account", Mask: "tail"}},
			{Name: "secret", Type: readmodel.Text, Roles: map[string]string{"reader": "hidden", "full": "hidden"}},
		},
		Access: []readmodel.Access{
			{Scope: "merchant", Range: "payDue", Sort: readmodel.SortKey{Field: "payDue", Desc: true}},
			{Scope: "merchant", Equal: []string{"status"}, Range: "payDue", Sort: readmodel.SortKey{Field: "payDue", Desc: true}},
			{Scope: "merchant", Range: "paidAt", Sort: readmodel.SortKey{Field: "paidAt"}},
			{Scope: "merchant", Range: "amount", Sort: readmodel.SortKey{Field: "amount"}},
			{Scope: "merchant", Range: "orderNo", Sort: readmodel.SortKey{Field: "orderNo"}},
			{Scope: "merchant", Equal: []string{"accountNo", "refund"}, Sort: readmodel.SortKey{Field: "payDue"}},
			{Scope: "partner", Range: "payDue", Sort: readmodel.SortKey{Field: "payDue", Desc: true}},
			{Scope: "none", Range: "payDue", Sort: readmodel.SortKey{Field: "payDue"}},
			{Scope: "none", Equal: []string{"status"}, Range: "payDue", Sort: readmodel.SortKey{Field: "payDue"}},
		},
	}
}

var (
	operator = Reader{Key: "op", All: true, Role: RoleReader}
	seller   = Reader{Key: "m1", Scopes: map[string][]any{"merchant": {int64(1), int64(2)}}, Role: RoleReader}
	partner  = Reader{Key: "p3", Scopes: map[string][]any{"partner": {int64(3)}}, Role: RoleReader}
)

func testTokens(t testing.TB) *Tokens {
	t.Helper()
	tokens, err := NewTokens(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func parse(t testing.TB, r Reader, parameters string) (*Request, error) {
	t.Helper()
	values, err := url.ParseQuery(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(sample(), r, values, Options{Collection: "settlement_v1", Tokens: testTokens(t)})
}

func problemOf(t testing.TB, err error) *Problem {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v is not a Problem", err)
	}
	return p
}
