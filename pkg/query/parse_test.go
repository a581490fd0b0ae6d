package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/readmodel"
)

// extJSON shows a filter's clauses without the $and around them.
func extJSON(t *testing.T, filter bson.D) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(filter, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(text), `{"$and":[`), `]}`)
}

func TestFilters(t *testing.T) {
	const live = `{"_p.del":{"$exists":false}}`
	const own = `{"merchantId":{"$in":[1,2]}},` + live
	f := func(r Reader, parameters, want, index string) {
		t.Helper()
		q, err := parse(t, r, parameters)
		if err != nil {
			t.Errorf("%s: %v", parameters, err)
			return
		}
		if got := extJSON(t, q.Filter); got != want {
			t.Errorf("%s:\n got %s\nwant %s", parameters, got, want)
		}
		if got := fmt.Sprint(mongodb.Index(q.Model, *q.Access).Keys); got != index {
			t.Errorf("%s: index %s, want %s", parameters, got, index)
		}
	}
	byDue := "[{merchantId 1} {payDue -1} {_id -1}]"
	byStatus := "[{merchantId 1} {status 1} {payDue -1} {_id -1}]"
	f(seller, "", own, byDue)
	f(seller, "merchantId=2", own+`,{"merchantId":2}`, byDue)
	f(seller, "merchantId=in:2,1,2", own+`,{"merchantId":{"$in":[2,1]}}`, byDue)
	f(seller, "status=PAID", own+`,{"status":"PAID"}`, byStatus)
	f(seller, "status=in:PAID,HELD", own+`,{"status":{"$in":["PAID","HELD"]}}`, byStatus)
	f(seller, "payDue=2026-11-30", own+`,{"payDue":{"$date":"2026-11-30T00:00:00Z"}}`, byDue)
	f(seller, "payDue=2026-11-01..2026-11-30", own+`,{"payDue":{"$gte":{"$date":"2026-11-01T00:00:00Z"},"$lte":{"$date":"2026-11-30T00:00:00Z"}}}`, byDue)
	f(seller, "payDue=..2026-11-30&tz=Asia/Seoul", own+`,{"payDue":{"$lte":{"$date":"2026-11-30T00:00:00Z"}}}`, byDue)
	f(seller, "paidAt=2026-11-01..2026-11-30&tz=Asia/Seoul", own+`,{"paidAt":{"$gte":{"$date":"2026-10-31T15:00:00Z"},"$lt":{"$date":"2026-11-30T15:00:00Z"}}}`, "[{merchantId 1} {paidAt 1} {_id 1}]")
	f(seller, "paidAt=2026-03-08&tz=America/New_York", own+`,{"paidAt":{"$gte":{"$date":"2026-03-08T05:00:00Z"},"$lt":{"$date":"2026-03-09T04:00:00Z"}}}`, "[{merchantId 1} {paidAt 1} {_id 1}]")
	f(seller, "paidAt=2026-11-01T00:00:00%2B09:00..2026-11-01T00:00:00.5Z", own+`,{"paidAt":{"$gte":{"$date":"2026-10-31T15:00:00Z"},"$lt":{"$date":"2026-11-01T00:00:00.5Z"}}}`, "[{merchantId 1} {paidAt 1} {_id 1}]")
	f(seller, "amount=-0.10..1234567890123456789012345678901.99", own+`,{"amount":{"$gte":{"$numberDecimal":"-0.10"},"$lte":{"$numberDecimal":"1234567890123456789012345678901.99"}}}`, "[{merchantId 1} {amount 1} {_id 1}]")
	f(seller, "orderNo=eq:in:a..b", own+`,{"orderNo":"in:a..b"}`, "[{merchantId 1} {orderNo 1} {_id 1}]")
	f(seller, "orderNo=$where:%22x%22", own+`,{"orderNo":"$where:\"x\""}`, "[{merchantId 1} {orderNo 1} {_id 1}]")
	f(operator, "merchantId=9007199254740993", live+`,{"merchantId":9007199254740993}`, byDue)
	f(partner, "", `{"partnerId":3},`+live, "[{partnerId 1} {payDue -1} {_id -1}]")
	f(operator, "", live, "[{payDue 1} {_id 1}]")
	f(operator, "status=PAID", live+`,{"status":"PAID"}`, "[{status 1} {payDue 1} {_id 1}]")
	f(operator, "status=PAID&merchantId=7", live+`,{"merchantId":7},{"status":"PAID"}`, byStatus)
	full := seller
	full.Role = RoleFull
	f(full, `accountNo=in:1\,2,3\\&refund=true`, own+`,{"refund":true},{"accountNo":{"$in":["1,2","3\\"]}}`, "[{merchantId 1} {accountNo 1} {refund 1} {payDue 1} {_id 1}]")
}

func TestRefusals(t *testing.T) {
	f := func(r Reader, parameters string, status int, words ...string) {
		t.Helper()
		_, err := parse(t, r, parameters)
		if err == nil {
			t.Errorf("%s: accepted", parameters)
			return
		}
		p := problemOf(t, err)
		if p.Status != status {
			t.Errorf("%s: status %d, want %d (%s)", parameters, p.Status, status, p.Detail)
		}
		for _, w := range words {
			if !strings.Contains(p.Detail, w) {
				t.Errorf("%s: %q does not say %q", parameters, p.Detail, w)
			}
		}
	}
	f(seller, "stauts=PAID", 400, "did you mean status?")
	f(seller, "merchantId[$ne]=1", 400, "no filter or parameter merchantId[$ne]")
	f(seller, "_p.del=1", 400)
	f(seller, "status=PAID&status=HELD", 400, "2 times")
	f(seller, "status=PAYED", 400, "PAID, HELD or SCHEDULED")
	f(seller, "status=", 400)
	f(seller, "payDue=2026-11-31", 400, "not a date")
	f(seller, "payDue=2026-11-01T00:00:00Z", 400, "not a date")
	f(seller, "payDue=2026-11-30..2026-11-01", 400, "ends before it begins")
	f(seller, "payDue=..", 400, "neither a beginning nor an end")
	f(seller, "amount=2..1.99", 400, "ends before")
	f(seller, "amount=1e5", 400, "not a decimal")
	f(seller, "amount=NaN", 400, "not a decimal")
	f(seller, "amount=12345678901234567890123456789012345", 400, "34 digits")
	f(seller, "paidAt=2026-11-01T00:00:00 09:00", 400, "%2B")
	f(seller, "paidAt=2026-11-01T00:00:00.0001Z", 400, "milliseconds")
	f(seller, "merchantId=1.0", 400, "whole number")
	f(seller, "merchantId=", 400)
	f(seller, "merchantId=9223372036854775808", 400)
	f(seller, "merchantId=in:"+strings.Repeat("1,", 100)+"1", 400, "at most 100")
	f(seller, "tz=Korea/Pyongyang", 400, "IANA")
	f(seller, "tz=Local", 400)
	f(seller, "tz=../../etc/passwd", 400)
	f(seller, "lang=fr", 400, "en or ko")
	f(seller, "limit=0", 400)
	f(seller, "limit=1001", 400, "export")
	f(seller, "sort=payDu", 400, "did you mean payDue?")
	f(seller, "fields=amount,amuont", 400, "did you mean amount?")
	f(seller, "fields=secret", 400)
	f(seller, "sort=secret", 400, "sort=secret is not a field of")
	f(seller, "sort=secrat", 400, "known are settlementId")
	f(seller, "secret=1", 400, "There is no filter or parameter secret;")
	f(seller, "page=abc", 400, "first page")
	f(seller, "merchantId=3", 403, "merchantId 3")
	f(seller, "merchantId=in:1,3", 403)
	f(partner, "merchantId=9007199254740993", 403, "not limited by merchant", "leave merchantId out")
	f(partner, "merchantId=1&partnerId=3", 403, "merchantId")
	f(seller, "partnerId=30", 403, "partnerId")
	f(seller, "accountNo=1&refund=true", 403, "--pii")
	f(seller, "sort=accountNo", 403)
	f(Reader{Key: "x"}, "", 403, "no scope")
	f(Reader{Key: "x", Scopes: map[string][]any{"shop": {int64(1)}}}, "", 403, "shop", "merchant or partner")
	f(Reader{Key: "x", Scopes: map[string][]any{"merchant": {"1"}}}, "", 403, "not of the type of merchantId, which is int64")
	f(seller, "refund=true", 422, "leave out refund")
	f(seller, "status=PAID&sort=amount", 422, "(merchantId, status, payDue=from..to, sort=-payDue)", "sort by payDue in either direction")
	f(seller, "payDue=in:2026-11-01,2026-11-02", 422, "one value or a range")
	f(operator, "amount=1..2", 422)
	f(many(201), "", 422, "201 index scans", "merchantId=in:…")
	f(many(100), "status=in:PAID,HELD,SCHEDULED", 422, "300 index scans")
}

func many(n int) Reader {
	r := Reader{Key: "many", Scopes: map[string][]any{}}
	for i := range n {
		r.Scopes["merchant"] = append(r.Scopes["merchant"], int64(i))
	}
	return r
}

func TestExportTakesNeitherLimitNorPage(t *testing.T) {
	for _, name := range []string{"limit", "page"} {
		_, err := Parse(sample(), operator, map[string][]string{name: {"1"}}, Options{Export: true})
		if p := problemOf(t, err); p.Status != 400 || p.Slug != SlugUnknownParameter {
			t.Errorf("%s: %v", name, p)
		}
	}
}

func TestProjectionHasWhatATokenNeeds(t *testing.T) {
	q, err := parse(t, seller, "fields=status,amount")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(q.Projection); got != "[{_id 1} {amount 1} {payDue 1} {status 1}]" {
		t.Error(got)
	}
	if q.Fields[0].Name != "status" || q.Fields[1].Name != "amount" {
		t.Error("fields are not in the order asked for")
	}
}

func TestByIDHidesNothingButTheScope(t *testing.T) {
	f := func(id, want string) {
		t.Helper()
		q, err := ByID(sample(), seller, id, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := extJSON(t, q.Filter); got != `{"merchantId":{"$in":[1,2]}},{"_p.del":{"$exists":false}},`+want {
			t.Errorf("%s: %s", id, got)
		}
	}
	f("42", `{"_id":42}`)
	f("abc", `{"_id":{"$in":[]}}`)
	if _, err := ByID(sample(), seller, "1", map[string][]string{"status": {"PAID"}}, Options{}); err == nil {
		t.Error("a filter on a get is accepted")
	}
}

// A partner may ask by merchant where an index within its own scope holds both,
// and then reads no row of another partner.
func TestScopeFieldWithinAnotherScope(t *testing.T) {
	m := sample()
	m.Access = append(m.Access, readmodel.Access{Scope: "partner", Equal: []string{"merchantId"}, Range: "payDue", Sort: readmodel.SortKey{Field: "payDue"}})
	q, err := Parse(m, partner, map[string][]string{"merchantId": {"77"}}, Options{Export: true})
	if err != nil || q.Access.Scope != "partner" || len(q.Access.Equal) != 1 {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := Parse(m, seller, map[string][]string{"partnerId": {"3"}}, Options{Export: true}); err == nil || problemOf(t, err).Status != 403 {
		t.Errorf("a merchant's key asks by partner: %v", err)
	}
}

// A field named like a parameter could never be asked for.
func TestParametersAreReserved(t *testing.T) {
	for _, known := range [][]string{pageParameters, exportParameters, getParameters} {
		for _, name := range known {
			if !slices.Contains(readmodel.Reserved, name) {
				t.Errorf("a model may have a field %s", name)
			}
		}
	}
}
