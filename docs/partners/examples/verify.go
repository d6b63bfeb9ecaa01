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

func check(v vector) bool {
	body, changed := []byte(v.Body), []byte(v.Body+" ")
	call := Call{v.Method, v.Path, v.XAPIRequest, body}
	altered := Call{v.Method, v.Path, v.XAPIRequest, changed}
	switch v.Direction {
	case "staking API to partner":
		return IsFromStakingAPI(v.Secret, v.Method, v.Path, body, v.Signature) &&
			!IsFromStakingAPI(v.Secret, v.Method, v.Path, changed, v.Signature)
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
