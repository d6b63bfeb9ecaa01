<?php

/**
 * The four redemption callbacks in PHP 8 on SQLite (the extension pdo_sqlite).
 *
 * WALLET=0x… php callbacks.php                                               makes game.db, once
 * CALLBACK_KEY=… CALLBACK_SECRET=… php -S 127.0.0.1:4100 callbacks.php       serves
 *
 * In production a web server with PHP-FPM passes the four paths to this file.
 */

declare(strict_types=1);

const BASE_PATH = '/game';
const FRESH_MS = 300_000;
const MAX_BODY = 65_536;
const MAX_POINTS = 2 ** 53 - 1;
const ADDRESS = '/^0x[0-9a-f]{40}$/Di';
const UUID = '/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/Di';

/** Thrown in a transaction, it undoes everything that the call did. */
final class Refusal extends Exception
{
    /** @param array<string, string> $extra */
    public function __construct(public readonly string $errorCode, string $message, private array $extra = [])
    {
        parent::__construct($message);
    }

    /** @return array<string, mixed> */
    public function body(): array
    {
        return ['success' => false, 'errorCode' => $this->errorCode, 'errorMessage' => $this->getMessage()]
            + $this->extra;
    }
}

// ---- The database ----

const SCHEMA = <<<'SQL'
    CREATE TABLE IF NOT EXISTS player (
      id TEXT PRIMARY KEY,
      wallet TEXT NOT NULL UNIQUE,                  -- in lower case
      points INTEGER NOT NULL CHECK (points >= 0)
    );
    CREATE TABLE IF NOT EXISTS deduction (
      redemption_id TEXT PRIMARY KEY,               -- svcRedemptionId
      transaction_id TEXT UNIQUE,
      player_id TEXT REFERENCES player,
      wallet TEXT,                                  -- of the player at that time
      points INTEGER,
      status TEXT NOT NULL CHECK (status IN ('deducted', 'reverted', 'refused')),  -- refused: a tombstone
      revert_id TEXT UNIQUE,
      revert_reason TEXT
    );
    CREATE TABLE IF NOT EXISTS confirmation (
      redemption_id TEXT PRIMARY KEY REFERENCES deduction,
      status TEXT NOT NULL,
      body TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS seen_request (id TEXT PRIMARY KEY, seen_at_ms INTEGER NOT NULL);
    SQL;

final class Database
{
    private PDO $pdo;

    public function __construct()
    {
        $options = [PDO::ATTR_TIMEOUT => 10, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC];
        $this->pdo = new PDO('sqlite:' . __DIR__ . '/game.db', options: $options);
    }

    public function prepareTables(string $wallet): void
    {
        $this->pdo->exec(SCHEMA);
        $player = 'INSERT INTO player VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
        $this->run($player, ['player-1', strtolower($wallet), 50_000]);
        $this->run($player, ['player-2', '0x' . str_repeat('e', 40), 0]);
    }

    /**
     * All or nothing, one writer at a time. With PostgreSQL or MySQL add FOR UPDATE where a deduction is read.
     *
     * @template T
     * @param callable(): T $work
     * @return T
     */
    public function transaction(callable $work): mixed
    {
        $this->pdo->exec('BEGIN IMMEDIATE');
        try {
            $result = $work();
            $this->pdo->exec('COMMIT');
            return $result;
        } catch (Throwable $error) {
            $this->pdo->exec('ROLLBACK');
            throw $error;
        }
    }

    /** @return int how many rows changed */
    public function run(string $sql, array $values): int
    {
        $statement = $this->pdo->prepare($sql);
        foreach ($values as $at => $value) {
            $statement->bindValue($at + 1, $value, is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
        }
        $statement->execute();
        return $statement->rowCount();
    }

    /** @return ?array<string, mixed> the row, or null */
    public function find(string $sql, string $value): ?array
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute([$value]);
        return $statement->fetch() ?: null;
    }

    public function findDeduction(string $redemptionId): ?array
    {
        return $this->find('SELECT * FROM deduction WHERE redemption_id = ?', $redemptionId);
    }
}

// ---- The four operations ----

function getPoints(Database $db, string $address): array
{
    $player = $db->find('SELECT id, points FROM player WHERE wallet = ?', $address)
        ?? throw new Refusal('ERR-USER-NOT-FOUND', 'No player has this wallet.');
    return [
        'success' => true,
        'partnerUserId' => $player['id'],
        'address' => $address,
        'points' => $player['points'],
        'chain' => 'ethereum',
    ];
}

function deduct(Database $db, string $redemptionId, string $address, int $points): array
{
    $transactionId = newId('ptx');
    $db->transaction(function () use ($db, $redemptionId, $address, $points, $transactionId): void {
        // The primary key decides: of calls that come at once, one records the deduction.
        $recorded = $db->run(
            "INSERT INTO deduction (redemption_id, transaction_id, player_id, wallet, points, status)
             SELECT ?, ?, id, wallet, ?, 'deducted' FROM player WHERE wallet = ?
             ON CONFLICT (redemption_id) DO NOTHING",
            [$redemptionId, $transactionId, $points, $address],
        );
        if ($recorded === 0) {
            throw notRecorded($db->findDeduction($redemptionId), $address, $points);
        }
        $taken = $db->run(
            'UPDATE player SET points = points - ? WHERE wallet = ? AND points >= ?',
            [$points, $address, $points],
        );
        if ($taken === 0) {
            throw new Refusal('ERR-INSUFFICIENT-POINTS', 'The player has fewer points than that.');
        }
    });
    return ['success' => true, 'partnerTransactionId' => $transactionId];
}

function notRecorded(?array $earlier, string $address, int $points): Refusal
{
    if ($earlier === null) {
        return new Refusal('ERR-USER-NOT-FOUND', 'No player has this wallet.');
    }
    $terms = [$earlier['status'], $earlier['wallet'], $earlier['points']];
    // Names the deduction, so that a lost answer is found again; only while it stands, on these terms.
    $stands = $terms === ['deducted', $address, $points];
    $extra = $stands ? ['partnerTransactionId' => $earlier['transaction_id']] : [];
    return new Refusal('ERR-DUPLICATE-REQUEST', 'This redemption was already processed.', $extra);
}

function revert(
    Database $db,
    string $redemptionId,
    string $address,
    int $points,
    ?string $transactionId,
    ?string $reason,
): array {
    $revertId = newId('prv');
    $found = $db->transaction(
        function () use ($db, $redemptionId, $address, $points, $transactionId, $reason, $revertId): ?array {
            // A tombstone, where there is no such deduction: one that comes later is refused.
            $buried = $db->run(
                "INSERT INTO deduction (redemption_id, status) VALUES (?, 'refused')
                 ON CONFLICT (redemption_id) DO NOTHING",
                [$redemptionId],
            );
            $found = $db->findDeduction($redemptionId);
            if ($buried === 1 || $found['status'] === 'refused') {
                return null;
            }
            checkRevert($db, $found, $address, $points, $transactionId);
            $db->run(
                "UPDATE deduction SET status = 'reverted', revert_id = ?, revert_reason = ? WHERE redemption_id = ?",
                [$revertId, $reason, $redemptionId],
            );
            // To the player whose points they were, even where another one has the wallet now.
            $db->run(
                'UPDATE player SET points = points + ? WHERE id = ?',
                [$found['points'], $found['player_id']],
            );
            return $found;
        },
    );
    // Thrown after the COMMIT, so that the tombstone stays.
    if ($found === null) {
        throw new Refusal('ERR-TRANSACTION-NOT-FOUND', 'There is no such deduction.');
    }
    return [
        'success' => true,
        'partnerTransactionId' => $found['transaction_id'],
        'partnerRevertId' => $revertId,
    ];
}

function checkRevert(Database $db, array $found, string $address, int $points, ?string $transactionId): void
{
    if ($transactionId !== null && $transactionId !== $found['transaction_id']) {
        throw new Refusal('ERR-TRANSACTION-NOT-FOUND', 'The two ids are not of one deduction.');
    }
    if ($found['status'] === 'reverted') {
        throw new Refusal('ERR-ALREADY-REVERTED', 'The points were given back before.');
    }
    if ($points !== $found['points']) {
        throw new Refusal('ERR-INVALID-AMOUNT', 'deductPoints is not what was deducted.');
    }
    $confirmation = $db->find('SELECT status FROM confirmation WHERE redemption_id = ?', $found['redemption_id']);
    if ($address !== $found['wallet'] || $confirmation !== null) {
        throw new Refusal('ERR-INTERNAL', 'This contradicts our books.');
    }
}

function confirm(Database $db, string $redemptionId, string $address, int $points, string $status, string $body): array
{
    $db->transaction(function () use ($db, $redemptionId, $address, $points, $status, $body): void {
        $found = $db->findDeduction($redemptionId);
        if ($found === null || $found['status'] === 'refused') {
            throw new Refusal('ERR-REDEMPTION-NOT-FOUND', 'There is no such deduction.');
        }
        $expected = $found['status'] === 'reverted' ? 'reverted' : 'claimed';
        if ([$status, $address, $points] !== [$expected, $found['wallet'], $found['points']]) {
            throw new Refusal('ERR-INTERNAL', 'This contradicts our books.');
        }
        // The same confirmation may come again.
        $db->run(
            'INSERT INTO confirmation (redemption_id, status, body) VALUES (?, ?, ?)
             ON CONFLICT (redemption_id) DO NOTHING',
            [$redemptionId, $status, $body],
        );
    });
    return ['success' => true];
}

function newId(string $prefix): string
{
    return $prefix . '_' . bin2hex(random_bytes(16));
}

// ---- From the bytes to the operations, and back ----

function sign(string $method, string $path, string $requestId, string $body): string
{
    return hash_hmac('sha256', $method . $path . $requestId . $body, setting('CALLBACK_SECRET'));
}

/** The key, the signature over the raw body, the age, and that the call is new; in this order. */
function authenticate(Database $db, string $method, string $path, string $body): void
{
    $requestId = headerOf('X_API_REQUEST');
    if (!hash_equals(setting('CALLBACK_KEY'), headerOf('X_API_KEY'))) {
        throw new Refusal('ERR-AUTH-FAILED', 'X-API-KEY is missing or wrong.');
    }
    if (!hash_equals(sign($method, $path, $requestId, $body), headerOf('X_API_SIGNATURE'))) {
        throw new Refusal('ERR-AUTH-FAILED', 'X-API-SIGNATURE is missing or does not match.');
    }
    if (preg_match(UUID, $requestId) !== 1 || $requestId[14] !== '7') {
        throw new Refusal('ERR-AUTH-FAILED', 'X-API-REQUEST is not a UUID of version 7.');
    }
    $nowMs = (int) (microtime(true) * 1000);
    $madeAtMs = hexdec(substr(str_replace('-', '', $requestId), 0, 12));
    if (abs($nowMs - $madeAtMs) > FRESH_MS) {
        throw new Refusal('ERR-AUTH-FAILED', 'X-API-REQUEST is more than 300 s from our clock.');
    }
    $first = $db->transaction(function () use ($db, $requestId, $nowMs): int {
        $db->run('DELETE FROM seen_request WHERE seen_at_ms < ?', [$nowMs - 2 * FRESH_MS]);
        $remember = 'INSERT INTO seen_request (id, seen_at_ms) VALUES (?, ?) ON CONFLICT (id) DO NOTHING';
        return $db->run($remember, [strtolower($requestId), $nowMs]);
    });
    if ($first === 0) {
        throw new Refusal('ERR-AUTH-FAILED', 'X-API-REQUEST was used before.');
    }
}

/** Wallets and ids in lower case, in whatever case they were sent. */
function matching(string $pattern, mixed $value): string
{
    if (!is_string($value) || preg_match($pattern, $value) !== 1) {
        throw new Refusal('ERR-INTERNAL', 'A field is missing or malformed.');
    }
    return strtolower($value);
}

function textOrNull(mixed $value): ?string
{
    return is_string($value) ? $value : null;
}

function run(Database $db, string $name, string $body): array
{
    if ($name === 'GET /get-points-by-address') {
        return getPoints($db, matching(ADDRESS, $_GET['address'] ?? null));
    }
    $call = json_decode($body, true);
    if (!is_array($call)) {
        throw new Refusal('ERR-INTERNAL', 'The body is not a JSON object.');
    }
    $points = $call['deductPoints'] ?? null;
    if (!is_int($points) || $points < 1 || $points > MAX_POINTS) {
        throw new Refusal('ERR-INTERNAL', 'deductPoints is not a whole number of 1 or more.');
    }
    $redemptionId = matching(UUID, $call['svcRedemptionId'] ?? null);
    $terms = [$db, $redemptionId, matching(ADDRESS, $call['address'] ?? null), $points];
    if ($name === 'POST /deduct-points-by-address') {
        return deduct(...$terms);
    }
    if ($name === 'POST /revert-deduct-points') {
        $transactionId = textOrNull($call['partnerTransactionId'] ?? null);
        return revert(...[...$terms, $transactionId, textOrNull($call['revertReason'] ?? null)]);
    }
    $status = $call['status'] ?? null;
    if ($status !== 'claimed' && $status !== 'reverted') {
        throw new Refusal('ERR-INTERNAL', 'status is neither claimed nor reverted.');
    }
    return confirm(...[...$terms, $status, $body]);
}

const ENDPOINTS = [
    'GET /get-points-by-address',
    'POST /deduct-points-by-address',
    'POST /revert-deduct-points',
    'POST /confirm-redemption',
];

/** @return array{int, array<string, mixed>} the status and the fields of the answer */
function answer(string $method, string $path): array
{
    $name = $method . ' ' . substr($path, strlen(BASE_PATH));
    if (!str_starts_with($path, BASE_PATH) || !in_array($name, ENDPOINTS, true)) {
        return [404, (new Refusal('ERR-INTERNAL', 'There is no such endpoint.'))->body()];
    }
    try {
        $body = file_get_contents('php://input', length: MAX_BODY + 1);
        if (strlen($body) > MAX_BODY) {
            throw new Refusal('ERR-INTERNAL', 'The body is too large.');
        }
        $db = new Database();
        authenticate($db, $method, $path, $body);
        return [200, run($db, $name, $body)];
    } catch (Refusal $refusal) {
        return [200, $refusal->body()];
    } catch (Throwable $error) {
        error_log((string) $error);
        return [200, (new Refusal('ERR-INTERNAL', 'The call failed here.'))->body()];
    }
}

function headerOf(string $name): string
{
    return $_SERVER['HTTP_' . $name] ?? '';
}

function setting(string $name): string
{
    return getenv($name) ?: throw new RuntimeException("$name is not set");
}

if (PHP_SAPI === 'cli') {
    (new Database())->prepareTables(setting('WALLET'));
    echo "game.db is ready\n";
    exit(0);
}

$method = $_SERVER['REQUEST_METHOD'];
$path = explode('?', $_SERVER['REQUEST_URI'])[0];
[$status, $fields] = answer($method, $path);
// Printed once: these bytes are signed, these bytes are sent. HEAD has no body.
$body = $method === 'HEAD' ? '' : json_encode($fields, JSON_THROW_ON_ERROR);
http_response_code($status);
header('Content-Type: application/json');
header('X-API-SIGNATURE: ' . sign($method, $path, headerOf('X_API_REQUEST'), $body));
echo $body;
