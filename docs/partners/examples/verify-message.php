<?php

/**
 * HTTP Message Signatures (RFC 9421) of our answers in PHP 8; ed25519 takes the extension sodium, which PHP has by default.
 * Ask for them with `Accept-Signature: sig=();alg="ed25519";nonce="…"`, the nonce fresh for each request.
 *
 * php verify-message.php [message-signature-vectors.json]    checks every worked example
 */

declare(strict_types=1);

const OF_REQUEST = '"@status" "@method";req "@path";req "@query";req';

/**
 * @param array<string, mixed> $answer method and target (path with query) of your request; status; body before json_decode; the headers
 *   contentDigest (or sealedDay), signatureInput and signature
 * @param array<string, string> $publicKeys x by kid, from /.well-known/http-message-signatures-directory
 * @param string $nonce what this request asked for; '': none
 * @param int $now seconds: answers that are more than five minutes older or newer are refused
 * @param string $covered 'x-sealed-day' for a list of a day: that header is signed in place of the body, which its root proves
 */
function isOurAnswer(
    array $answer,
    array $publicKeys,
    string $secret,
    string $nonce,
    int $now,
    string $covered = 'content-digest',
): bool {
    $value = $answer[$covered === 'content-digest' ? 'contentDigest' : 'sealedDay'];
    if ($covered === 'content-digest') {
        $digest = base64_encode(hash('sha256', $answer['body'], true));
        if ($value !== "sha-256=:$digest:") {
            return false;
        }
    }
    $parameters = preg_replace('/^sig=/', '', $answer['signatureInput']);
    if (!str_starts_with($parameters, '(' . OF_REQUEST . " \"$covered\");")) {
        return false;
    }
    if (textOf($parameters, 'nonce') !== $nonce) {
        return false;
    }
    $isDated = preg_match('/;created=(\d{1,15})(?:;|$)/D', $parameters, $created) === 1;
    if (!$isDated || abs($now - (int) $created[1]) > 300) {
        return false;
    }
    [$path, $query] = array_pad(explode('?', $answer['target'], 2), 2, '');
    $base = implode("\n", [
        "\"@status\": {$answer['status']}",
        "\"@method\";req: {$answer['method']}",
        "\"@path\";req: $path",
        "\"@query\";req: ?$query",
        "\"$covered\": $value",
        "\"@signature-params\": $parameters",
    ]);
    $given = preg_match('/^sig=:([A-Za-z0-9+\/=]+):$/D', $answer['signature'], $found) === 1
        ? base64_decode($found[1])
        : '';
    $algorithm = textOf($parameters, 'alg');
    if ($algorithm === 'ed25519') {
        $x = $publicKeys[textOf($parameters, 'keyid')] ?? null;
        return $x !== null
            && strlen($given) === SODIUM_CRYPTO_SIGN_BYTES
            && sodium_crypto_sign_verify_detached($given, $base, base64_decode(strtr($x, '-_', '+/')));
    }
    return $algorithm === 'hmac-sha256' && hash_equals(hash_hmac('sha256', $base, $secret, true), $given);
}

function textOf(string $parameters, string $name): string
{
    return preg_match("/;$name=\"([^\"\\\\]*)\"/", $parameters, $found) === 1 ? $found[1] : '';
}

// ---- The rest checks the worked examples. ----

$path = $argv[1] ?? __DIR__ . '/../../wire/message-signature-vectors.json';
$file = json_decode(file_get_contents($path), true, 512, JSON_THROW_ON_ERROR);
$keys = [$file['publicKey']['kid'] => $file['publicKey']['x']];
$vectors = array_merge($file['vectors'], $file['lists'] ?? []);
$wrong = array_filter($vectors, function (array $vector) use ($keys, $file): bool {
    $another = ['target' => $vector['target'] . '1'] + $vector;
    $expected = [$vector['nonce'], $vector['now'], $vector['covered']];
    return !isOurAnswer($vector, $keys, $file['secret'], ...$expected)
        || isOurAnswer($another, $keys, $file['secret'], ...$expected);
});
foreach ($wrong as $vector) {
    echo "WRONG  {$vector['name']}\n";
}
echo count($vectors) - count($wrong), ' of ', count($vectors), " vectors verified\n";
exit($vectors !== [] && $wrong === [] ? 0 : 1);
