// The four redemption callbacks in Java 17 or newer, with nothing but the JDK.
//
//     CALLBACK_KEY=... CALLBACK_SECRET=... WALLET=0x... java Callbacks.java
//
// The class Game stands for your database: a restart forgets it. There, svcRedemptionId is a primary key, and each of the
// four operations is one transaction in place of `synchronized`. The class Json stands for Jackson or Gson.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Callbacks {
  static final String BASE_PATH = "/game";
  static final long FRESH_MS = 300_000;
  static final int MAX_BODY = 65_536;
  static final long MAX_POINTS = (1L << 53) - 1;
  static final Pattern ADDRESS = Pattern.compile("0x[0-9a-fA-F]{40}");
  static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  /** What the caller is told of a call that is not done. Before it is thrown nothing was changed, tombstones aside. */
  static final class Refusal extends RuntimeException {
    final String code;
    final Map<String, Object> extra;

    Refusal(String code, String message) {
      this(code, message, Map.of());
    }

    Refusal(String code, String message, Map<String, Object> extra) {
      super(message);
      this.code = code;
      this.extra = extra;
    }

    Map<String, Object> body() {
      var body = new LinkedHashMap<String, Object>(extra);
      body.put("success", false);
      body.put("errorCode", code);
      body.put("errorMessage", getMessage());
      return body;
    }
  }

  // ---- The four operations ----

  /** What all three POST calls have. Wallet and id are in lower case. */
  record Terms(String redemptionId, String address, long points) {}

  static final class Player {
    final String id;
    long points;

    Player(String id, long points) {
      this.id = id;
      this.points = points;
    }
  }

  static final class Deduction {
    /** Whose points they were; null for a tombstone, the mark of a revert that came first. */
    final Player player;
    final Terms terms;
    final String transactionId = "ptx_" + UUID.randomUUID();
    String revertId;
    String confirmation;

    Deduction(Player player, Terms terms) {
      this.player = player;
      this.terms = terms;
    }
  }

  static final class Game {
    private final Map<String, Player> players = new HashMap<>(); // by wallet, in lower case
    private final Map<String, Deduction> deductions = new HashMap<>(); // by svcRedemptionId
    private final Map<String, Long> seenAtMs = new HashMap<>(); // by X-API-REQUEST

    synchronized void addPlayer(String wallet, Player player) {
      players.put(wallet, player);
    }

    synchronized Map<String, Object> getPoints(String address) {
      var player = playerOf(address);
      return Map.of(
          "success", true,
          "partnerUserId", player.id,
          "address", address,
          "points", player.points,
          "chain", "ethereum");
    }

    synchronized Map<String, Object> deduct(Terms terms) {
      var earlier = deductions.get(terms.redemptionId());
      if (earlier != null) throw duplicate(earlier, terms);
      var player = playerOf(terms.address());
      if (player.points < terms.points()) {
        throw new Refusal("ERR-INSUFFICIENT-POINTS", "The player has fewer points than that.");
      }
      var made = new Deduction(player, terms);
      player.points -= terms.points();
      deductions.put(terms.redemptionId(), made);
      return Map.of("success", true, "partnerTransactionId", made.transactionId);
    }

    private static Refusal duplicate(Deduction earlier, Terms terms) {
      // Names the deduction, so that a lost answer is found again; only while it stands, on these terms.
      var stands = earlier.player != null && earlier.revertId == null && earlier.terms.equals(terms);
      Map<String, Object> extra =
          stands ? Map.of("partnerTransactionId", earlier.transactionId) : Map.of();
      return new Refusal("ERR-DUPLICATE-REQUEST", "This redemption was already processed.", extra);
    }

    /** @param transactionId null where the caller never got it */
    synchronized Map<String, Object> revert(Terms terms, String transactionId) {
      // A tombstone, where there is no such deduction: one that comes later is refused.
      var found =
          deductions.computeIfAbsent(terms.redemptionId(), id -> new Deduction(null, terms));
      if (found.player == null) {
        throw new Refusal("ERR-TRANSACTION-NOT-FOUND", "There is no such deduction.");
      }
      if (transactionId != null && !transactionId.equals(found.transactionId)) {
        throw new Refusal("ERR-TRANSACTION-NOT-FOUND", "The two ids are not of one deduction.");
      }
      if (found.revertId != null) {
        throw new Refusal("ERR-ALREADY-REVERTED", "The points were given back before.");
      }
      if (found.terms.points() != terms.points()) {
        throw new Refusal("ERR-INVALID-AMOUNT", "deductPoints is not what was deducted.");
      }
      if (!found.terms.equals(terms) || found.confirmation != null) {
        throw new Refusal("ERR-INTERNAL", "This contradicts our books.");
      }
      found.revertId = "prv_" + UUID.randomUUID();
      // To the player whose points they were, even where another one has the wallet now.
      found.player.points += terms.points();
      return Map.of(
          "success", true,
          "partnerTransactionId", found.transactionId,
          "partnerRevertId", found.revertId);
    }

    synchronized Map<String, Object> confirm(Terms terms, String status, String body) {
      var found = deductions.get(terms.redemptionId());
      if (found == null || found.player == null) {
        throw new Refusal("ERR-REDEMPTION-NOT-FOUND", "There is no such deduction.");
      }
      var expected = found.revertId == null ? "claimed" : "reverted";
      if (!status.equals(expected) || !found.terms.equals(terms)) {
        throw new Refusal("ERR-INTERNAL", "This contradicts our books.");
      }
      // The same confirmation may come again.
      if (found.confirmation == null) found.confirmation = body;
      return Map.of("success", true);
    }

    /** Remembers the id of a call for 600 s. */
    synchronized boolean firstUse(String requestId, long nowMs) {
      seenAtMs.values().removeIf(atMs -> atMs < nowMs - 2 * FRESH_MS);
      return seenAtMs.putIfAbsent(requestId, nowMs) == null;
    }

    private Player playerOf(String address) {
      var player = players.get(address);
      if (player == null) throw new Refusal("ERR-USER-NOT-FOUND", "No player has this wallet.");
      return player;
    }
  }

  // ---- From the bytes to the operations, and back ----

  private final byte[] key;
  private final byte[] secret;
  private final Game game;

  Callbacks(String key, String secret, Game game) {
    this.key = key.getBytes(StandardCharsets.UTF_8);
    this.secret = secret.getBytes(StandardCharsets.UTF_8);
    this.game = game;
  }

  private String sign(String method, String path, String requestId, byte[] body) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      mac.update((method + path + requestId).getBytes(StandardCharsets.ISO_8859_1));
      return HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  /** The key, the signature over the raw body, the age, and that the call is new; in this order. */
  private void authenticate(HttpExchange call, byte[] body) {
    var requestId = header(call, "X-API-REQUEST");
    if (!MessageDigest.isEqual(key, bytes(header(call, "X-API-KEY")))) {
      throw new Refusal("ERR-AUTH-FAILED", "X-API-KEY is missing or wrong.");
    }
    var expected = sign(call.getRequestMethod(), call.getRequestURI().getRawPath(), requestId, body);
    // In constant time.
    if (!MessageDigest.isEqual(bytes(expected), bytes(header(call, "X-API-SIGNATURE")))) {
      throw new Refusal("ERR-AUTH-FAILED", "X-API-SIGNATURE is missing or does not match.");
    }
    if (!UUID_TEXT.matcher(requestId).matches() || requestId.charAt(14) != '7') {
      throw new Refusal("ERR-AUTH-FAILED", "X-API-REQUEST is not a UUID of version 7.");
    }
    var nowMs = System.currentTimeMillis();
    var madeAtMs = Long.parseLong(requestId.replace("-", "").substring(0, 12), 16);
    if (Math.abs(nowMs - madeAtMs) > FRESH_MS) {
      throw new Refusal("ERR-AUTH-FAILED", "X-API-REQUEST is more than 300 s from our clock.");
    }
    if (!game.firstUse(requestId.toLowerCase(), nowMs)) {
      throw new Refusal("ERR-AUTH-FAILED", "X-API-REQUEST was used before.");
    }
  }

  private Map<String, Object> run(String name, String query, byte[] body) {
    if (name.equals("GET /get-points-by-address")) {
      var address = query != null && query.startsWith("address=") ? query.substring(8) : null;
      return game.getPoints(matching(ADDRESS, address));
    }
    var text = new String(body, StandardCharsets.UTF_8);
    var call = Json.parseObject(text);
    if (!(call.get("deductPoints") instanceof Long points) || points < 1 || points > MAX_POINTS) {
      throw new Refusal("ERR-INTERNAL", "deductPoints is not a whole number of 1 or more.");
    }
    var redemptionId = matching(UUID_TEXT, call.get("svcRedemptionId"));
    var terms = new Terms(redemptionId, matching(ADDRESS, call.get("address")), points);
    return switch (name) {
      case "POST /deduct-points-by-address" -> game.deduct(terms);
      case "POST /revert-deduct-points" ->
          game.revert(terms, (String) call.get("partnerTransactionId"));
      default -> game.confirm(terms, statusOf(call), text);
    };
  }

  private static String statusOf(Map<String, Object> call) {
    var status = call.get("status");
    if (!"claimed".equals(status) && !"reverted".equals(status)) {
      throw new Refusal("ERR-INTERNAL", "status is neither claimed nor reverted.");
    }
    return (String) status;
  }

  /** Wallets and ids in lower case, in whatever case they were sent. */
  private static String matching(Pattern pattern, Object value) {
    if (!(value instanceof String text) || !pattern.matcher(text).matches()) {
      throw new Refusal("ERR-INTERNAL", "A field is missing or malformed.");
    }
    return text.toLowerCase();
  }

  private static final Set<String> ENDPOINTS =
      Set.of(
          "GET /get-points-by-address",
          "POST /deduct-points-by-address",
          "POST /revert-deduct-points",
          "POST /confirm-redemption");

  private void handle(HttpExchange call) throws IOException {
    try (call) {
      // The body also of what is refused: the connection is used again. One byte too many tells that it is too large.
      var received = call.getRequestBody().readNBytes(MAX_BODY + 1);
      var path = call.getRequestURI().getRawPath();
      var name = call.getRequestMethod() + " " + path.replaceFirst("^" + BASE_PATH, "");
      var isEndpoint = path.startsWith(BASE_PATH) && ENDPOINTS.contains(name);
      var answer = isEndpoint ? answer(call, name, received) : NO_ENDPOINT.body();
      // Printed once: these bytes are signed, these bytes are sent. HEAD has no body.
      var isHead = call.getRequestMethod().equals("HEAD");
      var body = isHead ? new byte[0] : bytes(Json.print(answer));
      var requestId = header(call, "X-API-REQUEST");
      call.getResponseHeaders().set("Content-Type", "application/json");
      call.getResponseHeaders()
          .set("X-API-SIGNATURE", sign(call.getRequestMethod(), path, requestId, body));
      call.sendResponseHeaders(isEndpoint ? 200 : 404, isHead ? -1 : body.length);
      call.getResponseBody().write(body);
    }
  }

  private static final Refusal NO_ENDPOINT =
      new Refusal("ERR-INTERNAL", "There is no such endpoint.");

  private Map<String, Object> answer(HttpExchange call, String name, byte[] body) {
    try {
      if (body.length > MAX_BODY) throw new Refusal("ERR-INTERNAL", "The body is too large.");
      authenticate(call, body);
      return run(name, call.getRequestURI().getRawQuery(), body);
    } catch (Refusal refusal) {
      return refusal.body();
    } catch (Throwable error) {
      // Errors too, such as the StackOverflowError of deep JSON: without an answer the caller knows nothing.
      error.printStackTrace();
      return new Refusal("ERR-INTERNAL", "The call failed here.").body();
    }
  }

  private static String header(HttpExchange call, String name) {
    return Objects.requireNonNullElse(call.getRequestHeaders().getFirst(name), "");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String setting(String name) {
    return Objects.requireNonNull(System.getenv(name), name + " is not set");
  }

  public static void main(String[] args) throws IOException {
    var game = new Game();
    game.addPlayer(setting("WALLET").toLowerCase(), new Player("player-1", 50_000));
    game.addPlayer("0x" + "e".repeat(40), new Player("player-2", 0));
    var callbacks = new Callbacks(setting("CALLBACK_KEY"), setting("CALLBACK_SECRET"), game);
    var port = Integer.parseInt(System.getenv().getOrDefault("PORT", "4100"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 128);
    server.createContext("/", callbacks::handle);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort() + BASE_PATH);
  }

  // ---- Enough of JSON for these calls ----

  static final class Json {
    private final String text;
    private int at;

    private Json(String text) {
      this.text = text;
    }

    /** Whole numbers are Long, others BigDecimal. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> parseObject(String text) {
      var json = new Json(text);
      try {
        if (json.value() instanceof Map<?, ?> object && json.skip() == '\0') {
          return (Map<String, Object>) object;
        }
      } catch (IndexOutOfBoundsException | NumberFormatException error) {
        throw new Refusal("ERR-INTERNAL", "The body is not JSON.");
      }
      throw new Refusal("ERR-INTERNAL", "The body is not a JSON object.");
    }

    /** Texts, numbers and booleans. */
    static String print(Map<String, Object> fields) {
      var out = new StringBuilder("{");
      fields.forEach(
          (name, value) -> {
            if (out.length() > 1) out.append(',');
            out.append(quoted(name)).append(':');
            out.append(value instanceof String string ? quoted(string) : value);
          });
      return out.append('}').toString();
    }

    private static String quoted(String text) {
      var out = new StringBuilder("\"");
      for (var character : text.toCharArray()) {
        var isPlain = character >= ' ' && character < 127 && character != '"' && character != '\\';
        out.append(isPlain ? String.valueOf(character) : String.format("\\u%04x", (int) character));
      }
      return out.append('"').toString();
    }

    private Object value() {
      switch (skip()) {
        case '{':
          return object();
        case '[':
          for (at++; skip() != ']'; skipIf(',')) value();
          at++;
          return new Object[0];
        case '"':
          return string();
        default:
          var from = at;
          while (at < text.length() && "{}[]:,\" \t\r\n".indexOf(text.charAt(at)) < 0) at++;
          return plain(text.substring(from, at));
      }
    }

    private Map<String, Object> object() {
      var object = new HashMap<String, Object>();
      for (at++; skip() != '}'; skipIf(',')) {
        if (skip() != '"') throw new NumberFormatException();
        var name = string();
        if (skip() != ':') throw new NumberFormatException();
        at++;
        object.put(name, value());
      }
      at++;
      return object;
    }

    private static Object plain(String word) {
      return switch (word) {
        case "true" -> true;
        case "false" -> false;
        case "null" -> null;
        default -> word.matches("-?\\d{1,18}") ? Long.valueOf(word) : new BigDecimal(word);
      };
    }

    private String string() {
      var out = new StringBuilder();
      for (at++; text.charAt(at) != '"'; at++) {
        if (text.charAt(at) != '\\') {
          out.append(text.charAt(at));
          continue;
        }
        at++;
        var escaped = "bfnrt".indexOf(text.charAt(at));
        if (text.charAt(at) == 'u') {
          out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
          at += 4;
        } else {
          out.append(escaped < 0 ? text.charAt(at) : "\b\f\n\r\t".charAt(escaped));
        }
      }
      at++;
      return out.toString();
    }

    /** @return the next character that is no blank, or 0 at the end */
    private char skip() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      return at < text.length() ? text.charAt(at) : '\0';
    }

    private void skipIf(char character) {
      if (skip() == character) at++;
    }
  }
}
