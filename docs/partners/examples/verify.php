<?php

/**
 * Signatures in PHP 8, no extension needed.
 *
 * php verify.php [signature-vectors.json]    checks every worked example
 */

declare(strict_types=1);

const FRESH_MS = 300_000;

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

/** @param array<string, string> $vector */
function check(array $vector): bool
{
    ['secret' => $secret, 'method' => $method, 'path' => $path, 'body' => $body] = $vector;
    $signature = $vector['signature'];
    if ($vector['direction'] === 'staking API to partner') {
        return isFromStakingApi($secret, $method, $path, $body, $signature)
            && !isFromStakingApi($secret, $method, $path, $body . ' ', $signature);
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
