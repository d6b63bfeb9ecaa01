<?php

/**
 * Signatures in PHP 8, no extension needed.
 *
 * php verify.php [signature-vectors.json]    checks every worked example
 */

declare(strict_types=1);

const FRESH_MS = 300_000;
const FRESH_SECONDS = 300;
const DAY_SECONDS = 86_400;

/** Lower-case hex. The key is the text of the secret as you got it: not decoded, not trimmed. */
function sign(string $secret, string ...$parts): string
{
    return hash_hmac('sha256', implode('', $parts), $secret);
}

/** An answer of the staking API: path without the query, body as received, before json_decode. */
function isFromStakingApi(string $secret, string $method, string $path, string $body, ?string $signature): bool
{
    return hash_equals(sign($secret, $method, $path, $body), $signature ?? '');
}

/**
 * The signature of an answer of the staking API does not expire: one that is older may be a replay.
 *
 * @param array<string, mixed> $answer
 */
function isTimely(array $answer, int $now): bool
{
    return abs($now - strtotime($answer['requestedAt'])) <= FRESH_SECONDS;
}

/**
 * Whether snapshots are those that you asked for, after their signature was verified: it does not cover the query.
 *
 * @param array<string, mixed> $answer
 * @param array{wallet: string, lastDays: int, endDay?: string, contract?: string} $asked wallet and contract in lower
 *     case; endDay such as 2026-11-20, without it the day before the request
 */
function answersQuestion(array $answer, array $asked, int $now): bool
{
    $last = isset($asked['endDay'])
        ? strtotime("{$asked['endDay']}T00:00:00Z")
        : (intdiv(strtotime($answer['requestedAt']), DAY_SECONDS) - 1) * DAY_SECONDS;
    $expected = [];
    for ($before = $asked['lastDays'] - 1; $before >= 0; $before--) {
        $expected[] = $last - $before * DAY_SECONDS;
    }
    $days = array_map(fn (array $day): int|false => strtotime($day['from']), $answer['stakingSnapshots']);
    return isTimely($answer, $now)
        && $answer['walletAddress'] === $asked['wallet']
        && ($answer['contract'] ?? null) === ($asked['contract'] ?? null)
        && $days === $expected;
}

/** A call to one of your endpoints; $body is file_get_contents('php://input'), empty for the balance read. */
function isOurCall(
    string $secret,
    string $method,
    string $path,
    string $requestId,
    string $body,
    ?string $signature,
): bool {
    return hash_equals(sign($secret, $method, $path, $requestId, $body), $signature ?? '');
}

/** X-API-REQUEST is a UUID of version 7: its first 48 bits are the time, in milliseconds. */
function isFresh(string $requestId, int $nowMs): bool
{
    $digits = str_replace('-', '', $requestId);
    if (preg_match('/^[0-9a-f]{12}7[0-9a-f]{19}$/Di', $digits) !== 1) {
        return false;
    }
    return abs($nowMs - hexdec(substr($digits, 0, 12))) <= FRESH_MS;
}

/** For X-API-SIGNATURE of your answer: method, path and id of the call, and exactly the body that you echo. */
function signAnswer(string $secret, string $method, string $path, string $requestId, string $body): string
{
    return sign($secret, $method, $path, $requestId, $body);
}

// ---- The rest checks the worked examples. ----

/** Takes the snapshots of an example for the answer to its own question, and to no other. */
function tellsQuestionsApart(string $body): bool
{
    $answer = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
    if (!isset($answer['stakingSnapshots'])) {
        return true;
    }
    $now = strtotime($answer['requestedAt']);
    $own = ['wallet' => $answer['walletAddress'], 'lastDays' => count($answer['stakingSnapshots'])];
    $nobody = '0x' . str_repeat('0', 40);
    $changes = [
        ['wallet' => $nobody],
        ['lastDays' => $own['lastDays'] + 1],
        ['endDay' => '2026-01-01'],
        ['contract' => "eip155:1:$nobody"],
    ];
    foreach ($changes as $change) {
        if (answersQuestion($answer, array_merge($own, $change), $now)) {
            return false;
        }
    }
    return answersQuestion($answer, $own, $now)
        && !answersQuestion($answer, $own, $now + 301)
        && !answersQuestion($answer, $own, $now - 301);
}

/** @param array<string, string> $vector */
function check(array $vector): bool
{
    ['secret' => $secret, 'method' => $method, 'path' => $path, 'body' => $body] = $vector;
    $signature = $vector['signature'];
    if ($vector['direction'] === 'staking API to partner') {
        return isFromStakingApi($secret, $method, $path, $body, $signature)
            && !isFromStakingApi($secret, $method, $path, $body . ' ', $signature)
            && tellsQuestionsApart($body);
    }
    $id = $vector['xApiRequest'];
    if ($vector['direction'] === 'service to partner') {
        return isOurCall($secret, $method, $path, $id, $body, $signature)
            && !isOurCall($secret, $method, $path, $id, $body . ' ', $signature);
    }
    return signAnswer($secret, $method, $path, $id, $body) === $signature;
}

$file = $argv[1] ?? __DIR__ . '/../../wire/signature-vectors.json';
$vectors = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR)['vectors'];
$wrong = array_filter($vectors, fn (array $vector): bool => !check($vector));
foreach ($wrong as $vector) {
    echo "WRONG  {$vector['name']}\n";
}
echo count($vectors) - count($wrong), ' of ', count($vectors), " vectors verified\n";
[$id, $madeAtMs] = ['01a1fdfa-467b-7abc-8def-0123456789ab', 1_795_262_400_123];
$fresh = isFresh($id, $madeAtMs + 299_000) && !isFresh($id, $madeAtMs + 301_000);
if (!$fresh) {
    echo "WRONG  freshness\n";
}
exit($vectors !== [] && $wrong === [] && $fresh ? 0 : 1);
