// HTTP Message Signatures (RFC 9421) of our answers in Go, standard library only. Ask for them with
// Accept-Signature: sig=();alg="ed25519".
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

const covered = `("@status" "@method";req "@path";req "@query";req "content-digest")`

// Answer is an answer with the method and the target (path with query) of its request, and its three headers.
type Answer struct {
	Name, Method, Target, Body               string
	Status                                   int
	ContentDigest, SignatureInput, Signature string
}

var (
	created   = regexp.MustCompile(`;created=(\d{1,15})(?:;|$)`)
	algorithm = regexp.MustCompile(`;alg="([^"\\]*)"`)
	keyID     = regexp.MustCompile(`;keyid="([^"\\]*)"`)
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
func IsOurAnswer(answer Answer, publicKeys map[string]string, secret string, now time.Time) bool {
	digest := sha256.Sum256([]byte(answer.Body))
	if answer.ContentDigest != "sha-256=:"+base64.StdEncoding.EncodeToString(digest[:])+":" {
		return false
	}
	parameters := strings.TrimPrefix(answer.SignatureInput, "sig=")
	if !strings.HasPrefix(parameters, covered+";") {
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
		`"content-digest": ` + answer.ContentDigest,
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
		PublicKey struct{ Kid, X string }
		Secret    string
		Vectors   []Answer
	}
	if err := json.Unmarshal(content, &file); err != nil {
		panic(err)
	}
	keys := map[string]string{file.PublicKey.Kid: file.PublicKey.X}
	now := time.Unix(1795262400, 0)
	good := 0
	for _, vector := range file.Vectors {
		another := vector
		another.Target += "1"
		if IsOurAnswer(vector, keys, file.Secret, now) && !IsOurAnswer(another, keys, file.Secret, now) {
			good++
		} else {
			fmt.Println("WRONG  " + vector.Name)
		}
	}
	fmt.Printf("%d of %d vectors verified\n", good, len(file.Vectors))
	if good == 0 || good != len(file.Vectors) {
		os.Exit(1)
	}
}
