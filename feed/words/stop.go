package words

import "strings"

// stopWords say nothing by themselves: articles, the commonest prepositions,
// conjunctions and pronouns of languages that many items are in, particles of
// Chinese, Japanese and Korean. Words that mean something of their own in another
// of these languages are left out where readers would look for them.
var stopWords = set(
	// English
	`a an and are as at be been but by can did do does for from had has have he her him his how i if in into is it
	its me my no not of on or our out she so than that the their them then there these they this to up was we were
	what when where which who why will with would you your`,
	// German
	`am auf aus bei das dem den der des die du ein eine einem einen einer er es für ich im ist mit nicht oder sie sind
	und von vor wie wir zu zum zur`,
	// French
	`au aux avec ce ces dans de du elle en est et il ils je la le les ne nous ou par pas pour que qui se sur un une vous`,
	// Spanish
	`al con del el ella ellos es esta este las lo los más no para pero por que se sin son su sus un una y yo`,
	// Italian
	`che chi con da dei della di è gli il io lo ma nel non per più sono un una`,
	// Portuguese
	`ao às com como da das do dos ela ele em mas na não nas no nos o os ou para por se um uma você`,
	// Dutch
	`dat de een en het hij ik je niet te voor zij zijn`,
	// Russian
	`в на и не что он я с как это по но к у из за`,
	// Chinese, Japanese, Korean
	`的 了 是 在 和 与 也 这 那 我 你 他 の は が を に で と も へ 은 는 을 를 의 에`,
)

func set(lists ...string) map[string]bool {
	all := map[string]bool{}
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			all[word] = true
		}
	}
	return all
}

// Stop reports whether a token is a stop word: one that says nothing by itself,
// though it may be part of a phrase.
func Stop(token string) bool { return stopWords[token] }
