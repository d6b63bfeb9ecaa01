// HTTP Message Signatures (RFC 9421) of our answers in Go, standard library only. Ask for them with
// Accept-Signature: sig=();alg="ed25519";nonce="…", the nonce fresh for each request.
//
//	go run verify-message.go [message-signature-vectors.json]    checks every worked example
package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const ofRequest = `"@status" "@method";req "@path";req "@query";req`

// Answer is an answer with the method and the target (path with query) of its request, and its headers.
type Answer struct {
	Method, Target, Body                                string
	Status                                              int
	ContentDigest, SealedDay, SignatureInput, Signature string
}

// Expected is what the request asked for: its nonce ("": none), and the last component that is covered: "content-digest", or
// "x-sealed-day" for a list of a day, whose header SealedDay is signed in place of the body, which its root proves.
type Expected struct {
	Nonce, Covered string
}

var (
	created   = regexp.MustCompile(`;created=(\d{1,15})(?:;|$)`)
	algorithm = regexp.MustCompile(`;alg="([^"\\]*)"`)
	keyID     = regexp.MustCompile(`;keyid="([^"\\]*)"`)
	nonceOf   = regexp.MustCompile(`;nonce="([^"\\]*)"`)
	bytesOf   = regexp.MustCompile(`^sig=:([A-Za-z0-9+/=]+):$`)
)

func first(pattern *regexp.Regexp, text string) string {
	if found := pattern.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// IsOurAnswer takes x by kid from /.well-known/http-message-signatures-directory. Answers that are more than five minutes older or
// newer than now are refused.
func IsOurAnswer(answer Answer, publicKeys map[string]string, secret string, expected Expected, now time.Time) bool {
	value := answer.SealedDay
	if expected.Covered == "content-digest" {
		value = answer.ContentDigest
		digest := sha256.Sum256([]byte(answer.Body))
		if value != "sha-256=:"+base64.StdEncoding.EncodeToString(digest[:])+":" {
			return false
		}
	}
	parameters := strings.TrimPrefix(answer.SignatureInput, "sig=")
	if !strings.HasPrefix(parameters, "("+ofRequest+` "`+expected.Covered+`");`) {
		return false
	}
	if first(nonceOf, parameters) != expected.Nonce {
		return false
	}
	seconds, err := strconv.ParseInt(first(created, parameters), 10, 64)
	if age := now.Unix() - seconds; err != nil || age > 300 || age < -300 {
		return false
	}
	path, query, _ := strings.Cut(answer.Target, "?")
	base := []byte(strings.Join([]string{
		`"@status": ` + strconv.Itoa(answer.Status),
		`"@method";req: ` + answer.Method,
		`"@path";req: ` + path,
		`"@query";req: ?` + query,
		`"` + expected.Covered + `": ` + value,
		`"@signature-params": ` + parameters,
	}, "\n"))
	given, err := base64.StdEncoding.DecodeString(first(bytesOf, answer.Signature))
	if err != nil {
		return false
	}
	switch first(algorithm, parameters) {
	case "ed25519":
		key, err := base64.RawURLEncoding.DecodeString(publicKeys[first(keyID, parameters)])
		return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, base, given)
	case "hmac-sha256":
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(base)
		return hmac.Equal(mac.Sum(nil), given)
	}
	return false
}

// ---- The rest checks the worked examples. ----

// Vector is an answer, what was expected of it, and the time at which it came.
type Vector struct {
	Name string
	Answer
	Expected
	Now int64
}

func main() {
	path := "../../wire/message-signature-vectors.json"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var file struct {
		PublicKey      struct{ Kid, X string }
		Secret         string
		Vectors, Lists []Vector
	}
	if err := json.Unmarshal(content, &file); err != nil {
		panic(err)
	}
	keys := map[string]string{file.PublicKey.Kid: file.PublicKey.X}
	vectors := append(file.Vectors, file.Lists...)
	good := 0
	for _, vector := range vectors {
		now := time.Unix(vector.Now, 0)
		another := vector.Answer
		another.Target += "1"
		if IsOurAnswer(vector.Answer, keys, file.Secret, vector.Expected, now) &&
			!IsOurAnswer(another, keys, file.Secret, vector.Expected, now) {
			good++
		} else {
			fmt.Println("WRONG  " + vector.Name)
		}
	}
	fmt.Printf("%d of %d vectors verified\n", good, len(vectors))
	if good == 0 || good != len(vectors) {
		os.Exit(1)
	}
}
