package sample

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Partners is the number of partners; a partner is a group of merchants.
const Partners = 40

// merchant is a shop that sells through the payment company.
type merchant struct {
	id, partner                     int64 // partner 0: none
	name, bizNo, bank, acct, holder string
	created                         time.Time
}

// oddNames are merchants whose names test what reads them; all are small ones.
var oddNames = map[int]string{
	23: `=김밥나라 1호점`, 42: "🍎 사과나무집 🍎", 77: `"참" 좋은, 가게`, 101: "Cafe\u0301 봄날", 137: "홍길동 & 아들들 <주식회사>", 211: "두 줄\n상호",
	256: "-마이너스 의류", 333: "@별다방", 404: "한국전자상거래정보기술유통물류서비스종합솔루션 주식회사 강남대로 제2영업본부 온라인사업부문", 499: "00123",
}

// makeMerchant is the same for a seed and an id whatever else is made.
func makeMerchant(id int, seed uint64) merchant {
	r := rand.New(rand.NewPCG(seed, mix(uint64(id)+1_000_000)))
	m := merchant{
		id: int64(id), name: merchantName(r), holder: buyerName(r),
		bizNo: fmt.Sprintf("%03d-%02d-%05d", 100+r.IntN(800), 1+r.IntN(90), r.IntN(100_000)),
		bank:  pick(r, banks), acct: account(r),
		created: (baseDay - 1000 + day(r.IntN(800))).at(time.Duration(r.Int64N(int64(24 * time.Hour)))).Truncate(time.Microsecond),
	}
	if odd, ok := oddNames[id]; ok {
		m.name = odd
	}
	if id == 1 || r.IntN(10) < 7 {
		m.partner = 1 + int64(mix(uint64(id))%Partners)
	}
	return m
}

func merchantName(r *rand.Rand) string {
	name := pick(r, brands) + pick(r, trades)
	if r.IntN(3) == 0 {
		return "(주)" + name
	}
	return name
}

func account(r *rand.Rand) string {
	return fmt.Sprintf("%03d-%03d-%06d", r.IntN(1000), r.IntN(1000), r.IntN(1_000_000))
}

func partnerName(id int) string {
	return fmt.Sprintf("%s파트너스 %d", brands[mix(uint64(id))%uint64(len(brands))], id)
}
