package sample

import (
	"math/rand/v2"
	"strings"
)

// The sample's vocabulary. Banks and card issuers are real ones with their codes.
var (
	surnames   = words("김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송 전 홍 남궁 선우")
	given      = words("민준 서연 도윤 지우 예준 하은 시우 서윤 주원 지민 하준 채원 지호 수아 준서 다은 은우 유진 현우 소율 길동 철수 영희 보람 슬기 한별")
	foreigners = []string{"Nguyễn Văn An", "José García", "O'Brien, Seán", "田中 太郎", "Müller Jürgen"}
	brands     = words("한솔 다온 미르 가온 누리 새봄 바른 온새미로 도담 아라 해찬 모아 라온 푸른 하늘 달빛 소담 예그리나 늘솔 윤슬")
	trades     = words("상회 식품 패션 전자 문구 리빙 뷰티 스포츠 북스 농원 수산 팩토리 스토어 마켓 컴퍼니 키친 가구 펫 캠핑 공방")
	qualities  = words("프리미엄 국내산 유기농 무료배송 당일발송 대용량 휴대용 초경량 저소음 방수 친환경 특가 신상 한정판 리퍼 수제 저당 무설탕 접이식 충전식")
	goods      = []string{
		"제주 감귤 10kg", "한우 1++ 등심 선물세트", "무선 블루투스 이어폰", "여성 캐시미어 롱코트", "스테인리스 텀블러 500ml", "원목 4인용 식탁 세트",
		"고양이 자동 급식기", "캠핑용 접이식 의자", "강원도 햇감자 5kg", "초등 수학 문제집 3-2", "남성 러닝화", "핸드드립 커피 원두 1kg", "냉동 손질 새우",
		"아기 물티슈 캡형 20팩", "LED 스탠드 조명", "무쇠 주물 프라이팬 28cm", "순면 차렵이불 퀸", "김장용 절임배추 20kg", "콜드크림 보습 세트", "기계식 키보드 87키",
	}
	options  = []string{"색상: 블랙", "색상: 아이보리 / 사이즈: L", "택1", "2개 묶음", "선물 포장 포함", "사이즈: 265mm", "구성: 본품+리필", "맛: 오리지널", "각인: 없음"}
	issuers  = words("신한카드 삼성카드 현대카드 KB국민카드 롯데카드 하나카드 우리카드 BC카드 NH농협카드 카카오뱅크")
	banks    = words("003 004 011 020 023 081 088 089 090 092")
	holdings = []string{
		"구매자 이의 제기 접수 (고객센터 확인 중)",
		"예금주명 불일치: 사업자등록증 재확인 요청",
		"세금계산서 미발행",
		"위조품 의심 신고로 지급 보류. 담당자가 증빙 서류(거래명세서, 수입신고필증, 상표권 사용 계약서)를 확인한 뒤 해제할 예정이며, 서류가 접수되지 않으면 다음 정산 주기로 이월됩니다.",
		"압류·가압류 결정문 접수\n- 법원 문서번호 확인\n- 법무팀 검토",
		"지급 계좌 오류로 반송됨, \"계좌 변경\" 후 재지급",
	}
)

// oddities are product names as people really enter them: each has broken a
// spreadsheet, a CSV reader, an XML writer or a COPY somewhere.
var oddities = []string{
	`=SUM(A1:A9) 계산기 스티커`, `+82 10 국제전화 선불카드`, `-50% 시즌오프 니트`, `@home 소이캔들 "라벤더"`, `=HYPERLINK("http://127.0.0.1/","클릭")`,
	`"프리미엄" 한우, 1++ 등급, 선물세트`, "1+1 행사\n(택1) 화이트 / 블랙", "색상:\t네이비\t사이즈:\tXL", "🎁 크리스마스 🎄 선물, 👨‍👩‍👧‍👦 가족 세트",
	"Cafe\u0301 원두 (에티오피아, 게이샤)", "\u1112\u1161\u11ab\u1100\u1173\u11af 자모가 풀린 이름", `<b>특가</b> & "무료배송" ]]> <!-- 광고 -->`,
	`_x000D_ 코드가 든 상품명`, "  앞뒤 공백  ", "폭 없는\u200b공백과 줄 안\u00a0띄움", `C:\new\table\N 저장장치`, `000123456789`, `1E5`, `2026-11-30`, `NULL`, `'작은따옴표`,
	"𝄞 악보 표지 𠮷野家 컵", "여러\n\n줄\n상품명;\"세미콜론\"; 끝",
}

func words(s string) []string { return strings.Fields(s) }

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func buyerName(r *rand.Rand) string {
	if r.IntN(200) == 0 {
		return pick(r, foreigners)
	}
	return pick(r, surnames) + pick(r, given)
}

// productName is about 60 characters, one in fifty over 300, one in forty odd.
func productName(r *rand.Rand) string {
	if r.IntN(40) == 0 {
		return pick(r, oddities)
	}
	name := "[" + pick(r, brands) + pick(r, trades) + "] " + pick(r, qualities) + " " + pick(r, qualities) + " " + pick(r, goods) + " (" + pick(r, options) + ")"
	if r.IntN(50) == 0 {
		for range 6 + r.IntN(30) {
			name += " / " + pick(r, qualities) + " " + pick(r, goods)
		}
	}
	return name
}

func holdReason(r *rand.Rand) string { return pick(r, holdings) }
