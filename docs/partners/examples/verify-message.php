<?php

/**
 * HTTP Message Signatures (RFC 9421) of our answers in PHP 8; ed25519 takes the extension sodium, which PHP has by default.
 * Ask for them with `Accept-Signature: sig=();alg="ed25519"`.
 *
 * php verify-message.php [message-signature-vectors.json]    checks every worked example
 */

declare(strict_types=1);

const COVERED = '("@status" "@method";req "@path";req "@query";req "content-digest")';

/**
 * @param array{method: string, target: string, status: int, body: string, contentDigest: string, signatureInput: string, signature: string} $answer
 *   method and target (path with query) of your request; body before json_decode; the three headers
 * @param array<string, string> $publicKeys x by kid, from /.well-known/http-message-signatures-directory
 * @param ?int $now seconds: answers that are more than five minutes older or newer are refused
 */
function isOurAnswer(array $answer, array $publicKeys, string $secret, ?int $now = null): bool
{
    $digest = base64_encode(hash('sha256', $answer['body'], true));
    if ($answer['contentDigest'] !== "sha-256=:$digest:") {
        return false;
    }
    $parameters = preg_replace('/^sig=/', '', $answer['signatureInput']);
    if (!str_starts_with($parameters, COVERED . ';')) {
        return false;
    }
    $isDated = preg_match('/;created=(\d{1,15})(?:;|$)/D', $parameters, $created) === 1;
    if ($now !== null && (!$isDated || abs($now - (int) $created[1]) > 300)) {
        return false;
    }
    [$path, $query] = array_pad(explode('?', $answer['target'], 2), 2, '');
    $base = implode("\n", [
        "\"@status\": {$answer['status']}",
        "\"@method\";req: {$answer['method']}",
        "\"@path\";req: $path",
        "\"@query\";req: ?$query",
        "\"content-digest\": {$answer['contentDigest']}",
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
$wrong = array_filter($file['vectors'], function (array $vector) use ($keys, $file): bool {
    $another = ['target' => $vector['target'] . '1'] + $vector;
    return !isOurAnswer($vector, $keys, $file['secret'], 1_795_262_400)
        || isOurAnswer($another, $keys, $file['secret'], 1_795_262_400);
});
foreach ($wrong as $vector) {
    echo "WRONG  {$vector['name']}\n";
}
echo count($file['vectors']) - count($wrong), ' of ', count($file['vectors']), " vectors verified\n";
exit($file['vectors'] !== [] && $wrong === [] ? 0 : 1);
