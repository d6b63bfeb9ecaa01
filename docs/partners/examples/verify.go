// Signatures in Go, standard library only.
//
//	go run verify.go [signature-vectors.json]    checks every worked example
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const fresh = 300 * time.Second

// Sign gives lower-case hex. The key is the text of the secret as you got it: not decoded, not trimmed.
func Sign(secret string, parts ...[]byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// matches compares in constant time.
func matches(expected, given string) bool {
	return hmac.Equal([]byte(expected), []byte(given))
}

// IsFromStakingAPI verifies an answer of the staking API: path without the query, body as received, before json.Unmarshal.
func IsFromStakingAPI(secret, method, path string, body []byte, signature string) bool {
	return matches(Sign(secret, []byte(method+path), body), signature)
}

// Asked is a question to the staking API; wallet and contract in lower case. EndDay is such as 2026-11-20; empty: the
// day before the request.
type Asked struct {
	Wallet, EndDay, Contract string
	LastDays                 int
}

// Snapshots are the fields of an answer of the staking API that repeat the question.
type Snapshots struct {
	WalletAddress    string    `json:"walletAddress"`
	RequestedAt      time.Time `json:"requestedAt"`
	Contract         string    `json:"contract"`
	StakingSnapshots []struct {
		From time.Time `json:"from"`
	} `json:"stakingSnapshots"`
}

// IsTimely tells replays apart: the signature of an answer of the staking API does not expire.
func IsTimely(requestedAt, now time.Time) bool {
	age := now.Sub(requestedAt)
	return -fresh <= age && age <= fresh
}

// AnswersQuestion reports whether snapshots are those that you asked for, after their signature was verified: it does not
// cover the query.
func AnswersQuestion(answer Snapshots, asked Asked, now time.Time) bool {
	last := answer.RequestedAt.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	if asked.EndDay != "" {
		day, err := time.Parse("2006-01-02", asked.EndDay)
		if err != nil {
			return false
		}
		last = day
	}
	days := answer.StakingSnapshots
	if !IsTimely(answer.RequestedAt, now) || answer.WalletAddress != asked.Wallet ||
		answer.Contract != asked.Contract || len(days) != asked.LastDays {
		return false
	}
	for place, day := range days {
		if !day.From.Equal(last.AddDate(0, 0, place-len(days)+1)) {
			return false
		}
	}
	return true
}

// Call is a call to one of your endpoints. Body is empty for the balance read.
type Call struct {
	Method, Path, RequestID string
	Body                    []byte
}

func (call Call) prefix() []byte {
	return []byte(call.Method + call.Path + call.RequestID)
}

// IsOurCall verifies the X-API-SIGNATURE of a call.
func IsOurCall(secret string, call Call, signature string) bool {
	return matches(Sign(secret, call.prefix(), call.Body), signature)
}

// IsFresh reads the time in X-API-REQUEST, a UUID of version 7: its first 48 bits are milliseconds.
func IsFresh(requestID string, now time.Time) bool {
	digits := strings.ReplaceAll(requestID, "-", "")
	if len(digits) != 32 || digits[12] != '7' {
		return false
	}
	ms, err := strconv.ParseInt(digits[:12], 16, 64)
	if err != nil {
		return false
	}
	age := now.Sub(time.UnixMilli(ms))
	return -fresh <= age && age <= fresh
}

// SignAnswer makes the X-API-SIGNATURE of your answer to a call. Send exactly these bytes.
func SignAnswer(secret string, call Call, answer []byte) string {
	return Sign(secret, call.prefix(), answer)
}

// ---- The rest checks the worked examples. ----

type vector struct {
	Name, Direction, Secret, Method, Path, XAPIRequest, Body, Signature string
}

// tellsQuestionsApart takes the snapshots of an example for the answer to its own question, and to no other.
func tellsQuestionsApart(body []byte) bool {
	var answer Snapshots
	if json.Unmarshal(body, &answer) != nil {
		return false
	}
	if len(answer.StakingSnapshots) == 0 {
		return true
	}
	now, days := answer.RequestedAt, len(answer.StakingSnapshots)
	own := Asked{Wallet: answer.WalletAddress, LastDays: days}
	nobody := "0x" + strings.Repeat("0", 40)
	for _, other := range []Asked{
		{Wallet: nobody, LastDays: days},
		{Wallet: own.Wallet, LastDays: days + 1},
		{Wallet: own.Wallet, LastDays: days, EndDay: "2026-01-01"},
		{Wallet: own.Wallet, LastDays: days, Contract: "eip155:1:" + nobody},
	} {
		if AnswersQuestion(answer, other, now) {
			return false
		}
	}
	late, early := now.Add(301*time.Second), now.Add(-301*time.Second)
	return AnswersQuestion(answer, own, now) && !AnswersQuestion(answer, own, late) && !AnswersQuestion(answer, own, early)
}

func check(v vector) bool {
	body, changed := []byte(v.Body), []byte(v.Body+" ")
	call := Call{v.Method, v.Path, v.XAPIRequest, body}
	altered := Call{v.Method, v.Path, v.XAPIRequest, changed}
	switch v.Direction {
	case "staking API to partner":
		return IsFromStakingAPI(v.Secret, v.Method, v.Path, body, v.Signature) &&
			!IsFromStakingAPI(v.Secret, v.Method, v.Path, changed, v.Signature) && tellsQuestionsApart(body)
	case "service to partner":
		return IsOurCall(v.Secret, call, v.Signature) && !IsOurCall(v.Secret, altered, v.Signature)
	case "partner to service":
		return SignAnswer(v.Secret, call, body) == v.Signature
	}
	return false
}

func main() {
	file := "../../wire/signature-vectors.json"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var examples struct{ Vectors []vector }
	if err := json.Unmarshal(text, &examples); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	good := 0
	for _, v := range examples.Vectors {
		if check(v) {
			good++
		} else {
			fmt.Println("WRONG ", v.Name)
		}
	}
	fmt.Printf("%d of %d vectors verified\n", good, len(examples.Vectors))
	id, made := "01a1fdfa-467b-7abc-8def-0123456789ab", time.UnixMilli(1795262400123)
	isFresh := IsFresh(id, made.Add(299*time.Second)) && !IsFresh(id, made.Add(301*time.Second))
	if !isFresh {
		fmt.Println("WRONG  freshness")
	}
	if !isFresh || good == 0 || good != len(examples.Vectors) {
		os.Exit(1)
	}
}
