// The four redemption callbacks in Go 1.19 or newer, standard library only.
//
//	CALLBACK_KEY=... CALLBACK_SECRET=... WALLET=0x... go run callbacks.go
//
// The type game stands for your database: a restart forgets it. There, svcRedemptionId is a primary key, and each of the
// four operations is one transaction in place of the lock.
package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	basePath  = "/game"
	fresh     = 300 * time.Second
	maxBody   = 65_536
	maxPoints = 1<<53 - 1
)

var (
	addressPattern = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	uuidPattern    = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
)

// fields is the body of an answer.
type fields map[string]any

// refusal is an error that the caller is told. Before it is returned nothing was changed, tombstones aside.
type refusal struct {
	code, message string
	// transactionID is that of the deduction that a duplicate names.
	transactionID string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(code, message string) error { return &refusal{code: code, message: message} }

// ---- The four operations ----

type player struct {
	id     string
	points int64
}

type deduction struct {
	transactionID, wallet string
	points                int64
	// player is whose points they were; nil for a tombstone, the mark of a revert that came first.
	player       *player
	revertID     string
	confirmation string
}

type game struct {
	mu         sync.Mutex
	players    map[string]*player    // by wallet, in lower case
	deductions map[string]*deduction // by svcRedemptionId
	seen       map[string]time.Time  // by X-API-REQUEST
}

// terms are what all three POST calls have. Wallet and id are in lower case.
type terms struct {
	redemptionID, address string
	points                int64
}

func (g *game) getPoints(address string) (fields, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.players[address]
	if !ok {
		return nil, refuse("ERR-USER-NOT-FOUND", "No player has this wallet.")
	}
	return fields{
		"success": true, "partnerUserId": found.id, "address": address, "points": found.points, "chain": "ethereum",
	}, nil
}

func (g *game) deduct(t terms) (fields, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if earlier, ok := g.deductions[t.redemptionID]; ok {
		duplicate := &refusal{code: "ERR-DUPLICATE-REQUEST", message: "This redemption was already processed."}
		// Names the deduction, so that a lost answer is found again; only while it stands, on these terms.
		stands := earlier.player != nil && earlier.revertID == ""
		if stands && earlier.wallet == t.address && earlier.points == t.points {
			duplicate.transactionID = earlier.transactionID
		}
		return nil, duplicate
	}
	owner, ok := g.players[t.address]
	if !ok {
		return nil, refuse("ERR-USER-NOT-FOUND", "No player has this wallet.")
	}
	if owner.points < t.points {
		return nil, refuse("ERR-INSUFFICIENT-POINTS", "The player has fewer points than that.")
	}
	made := &deduction{transactionID: newID("ptx"), wallet: t.address, points: t.points, player: owner}
	owner.points -= t.points
	g.deductions[t.redemptionID] = made
	return fields{"success": true, "partnerTransactionId": made.transactionID}, nil
}

// revert gives the points back. An empty transactionID: the caller never got it.
func (g *game) revert(t terms, transactionID string) (fields, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.deductions[t.redemptionID]
	if !ok {
		// A tombstone: a deduction that comes later is refused.
		found = &deduction{}
		g.deductions[t.redemptionID] = found
	}
	switch {
	case found.player == nil:
		return nil, refuse("ERR-TRANSACTION-NOT-FOUND", "There is no such deduction.")
	case transactionID != "" && transactionID != found.transactionID:
		return nil, refuse("ERR-TRANSACTION-NOT-FOUND", "The two ids are not of one deduction.")
	case found.revertID != "":
		return nil, refuse("ERR-ALREADY-REVERTED", "The points were given back before.")
	case found.points != t.points:
		return nil, refuse("ERR-INVALID-AMOUNT", "deductPoints is not what was deducted.")
	case found.wallet != t.address || found.confirmation != "":
		return nil, refuse("ERR-INTERNAL", "This contradicts our books.")
	}
	found.revertID = newID("prv")
	// To the player whose points they were, even where another one has the wallet now.
	found.player.points += found.points
	return fields{
		"success": true, "partnerTransactionId": found.transactionID, "partnerRevertId": found.revertID,
	}, nil
}

func (g *game) confirm(t terms, status, body string) (fields, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, ok := g.deductions[t.redemptionID]
	if !ok || found.player == nil {
		return nil, refuse("ERR-REDEMPTION-NOT-FOUND", "There is no such deduction.")
	}
	expected := "claimed"
	if found.revertID != "" {
		expected = "reverted"
	}
	if status != expected || t.address != found.wallet || t.points != found.points {
		return nil, refuse("ERR-INTERNAL", "This contradicts our books.")
	}
	// The same confirmation may come again.
	if found.confirmation == "" {
		found.confirmation = body
	}
	return fields{"success": true}, nil
}

// firstUse remembers the id of a call for 600 s.
func (g *game) firstUse(requestID string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, at := range g.seen {
		if now.Sub(at) > 2*fresh {
			delete(g.seen, id)
		}
	}
	if _, ok := g.seen[requestID]; ok {
		return false
	}
	g.seen[requestID] = now
	return true
}

func newID(prefix string) string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err)
	}
	return prefix + "_" + hex.EncodeToString(id)
}

// ---- From the bytes to the operations, and back ----

type server struct {
	key, secret string
	game        *game
}

func (s *server) sign(method, path, requestID string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.secret))
	mac.Write([]byte(method + path + requestID))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// authenticate looks at the key, the signature over the raw body, the age, and that the call is new; in this order.
func (s *server) authenticate(r *http.Request, body []byte) error {
	requestID := r.Header.Get("X-API-REQUEST")
	if !hmac.Equal([]byte(s.key), []byte(r.Header.Get("X-API-KEY"))) {
		return refuse("ERR-AUTH-FAILED", "X-API-KEY is missing or wrong.")
	}
	expected := s.sign(r.Method, r.URL.EscapedPath(), requestID, body)
	if !hmac.Equal([]byte(expected), []byte(r.Header.Get("X-API-SIGNATURE"))) {
		return refuse("ERR-AUTH-FAILED", "X-API-SIGNATURE is missing or does not match.")
	}
	if !uuidPattern.MatchString(requestID) || requestID[14] != '7' {
		return refuse("ERR-AUTH-FAILED", "X-API-REQUEST is not a UUID of version 7.")
	}
	now := time.Now()
	ms, err := strconv.ParseInt(strings.ReplaceAll(requestID, "-", "")[:12], 16, 64)
	if err != nil {
		return err
	}
	if age := now.Sub(time.UnixMilli(ms)); age > fresh || age < -fresh {
		return refuse("ERR-AUTH-FAILED", "X-API-REQUEST is more than 300 s from our clock.")
	}
	if !s.game.firstUse(strings.ToLower(requestID), now) {
		return refuse("ERR-AUTH-FAILED", "X-API-REQUEST was used before.")
	}
	return nil
}

func (s *server) run(r *http.Request, name string, body []byte) (fields, error) {
	malformed := refuse("ERR-INTERNAL", "A field is missing or malformed.")
	if name == "GET /get-points-by-address" {
		address := r.URL.Query().Get("address")
		if !addressPattern.MatchString(address) {
			return nil, malformed
		}
		return s.game.getPoints(strings.ToLower(address))
	}
	var call struct {
		SvcRedemptionID      string
		Address              string
		DeductPoints         int64
		PartnerTransactionID string
		Status               string
	}
	// Refuses what is not JSON, and numbers that are not whole.
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, refuse("ERR-INTERNAL", "The body is not the JSON of this call.")
	}
	isMeant := uuidPattern.MatchString(call.SvcRedemptionID) && addressPattern.MatchString(call.Address)
	if !isMeant || call.DeductPoints < 1 || call.DeductPoints > maxPoints {
		return nil, malformed
	}
	t := terms{strings.ToLower(call.SvcRedemptionID), strings.ToLower(call.Address), call.DeductPoints}
	switch name {
	case "POST /deduct-points-by-address":
		return s.game.deduct(t)
	case "POST /revert-deduct-points":
		return s.game.revert(t, call.PartnerTransactionID)
	}
	if call.Status != "claimed" && call.Status != "reverted" {
		return nil, malformed
	}
	return s.game.confirm(t, call.Status, string(body))
}

var endpoints = map[string]bool{
	"GET /get-points-by-address":     true,
	"POST /deduct-points-by-address": true,
	"POST /revert-deduct-points":     true,
	"POST /confirm-redemption":       true,
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) (status int, done fields, err error) {
	// Without this a panic ends the connection, and the caller gets no answer.
	defer func() {
		if cause := recover(); cause != nil {
			status, done, err = http.StatusOK, nil, fmt.Errorf("%v\n%s", cause, debug.Stack())
		}
	}()
	path := r.URL.EscapedPath()
	name := r.Method + " " + strings.TrimPrefix(path, basePath)
	if !strings.HasPrefix(path, basePath) || !endpoints[name] {
		return http.StatusNotFound, nil, refuse("ERR-INTERNAL", "There is no such endpoint.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return http.StatusOK, nil, refuse("ERR-INTERNAL", "The body could not be read.")
	}
	if err := s.authenticate(r, body); err != nil {
		return http.StatusOK, nil, err
	}
	done, err = s.run(r, name, body)
	return http.StatusOK, done, err
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, done, err := s.answer(w, r)
	if err != nil {
		done = envelope(err)
	}
	// Printed once: these bytes are signed, these bytes are sent. HEAD has no body.
	body, err := json.Marshal(done)
	if err != nil {
		panic(err)
	}
	if r.Method == http.MethodHead {
		body = nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-API-SIGNATURE", s.sign(r.Method, r.URL.EscapedPath(), r.Header.Get("X-API-REQUEST"), body))
	w.WriteHeader(status)
	w.Write(body)
}

func envelope(err error) fields {
	var told *refusal
	if !errors.As(err, &told) {
		log.Print(err)
		told = &refusal{code: "ERR-INTERNAL", message: "The call failed here."}
	}
	body := fields{"success": false, "errorCode": told.code, "errorMessage": told.message}
	if told.transactionID != "" {
		body["partnerTransactionId"] = told.transactionID
	}
	return body
}

func setting(name string) string {
	value := os.Getenv(name)
	if value == "" {
		log.Fatal(name + " is not set")
	}
	return value
}

func main() {
	handler := &server{
		key:    setting("CALLBACK_KEY"),
		secret: setting("CALLBACK_SECRET"),
		game: &game{
			players: map[string]*player{
				strings.ToLower(setting("WALLET")): {id: "player-1", points: 50_000},
				"0x" + strings.Repeat("e", 40):     {id: "player-2", points: 0},
			},
			deductions: map[string]*deduction{},
			seen:       map[string]time.Time{},
		},
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "4100"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s%s", listener.Addr(), basePath)
	log.Fatal(http.Serve(listener, handler))
}
