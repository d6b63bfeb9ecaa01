// Signatures in C# 7 or newer, the base library only: .NET Core 3, .NET 5 to 10, Mono 6.
//
//     dotnet run Verify.cs [signature-vectors.json]    checks every worked example (.NET 10 runs the file as it is;
//                                                      before that, put it into a console project; with Mono:
//                                                      mcs -r:System.Runtime.Serialization,System.Xml,System.Xml.Linq)
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Security.Cryptography;
using System.Text;
using System.Xml;
using System.Xml.Linq;

/// <summary>A question to the staking API.</summary>
public sealed class Asked
{
    /// <summary>In lower case.</summary>
    public string Wallet;
    public int LastDays;
    /// <summary>Such as 2026-11-20; null: the day before the request.</summary>
    public string EndDay;
    /// <summary>In lower case; null: none.</summary>
    public string Contract;
}

/// <summary>The fields of an answer of the staking API that repeat the question; Contract is null where it has none.</summary>
public sealed class Snapshots
{
    public string WalletAddress, RequestedAt, Contract;
    /// <summary>from of each snapshot.</summary>
    public IReadOnlyList<string> From;
}

public static class Signatures
{
    private static readonly TimeSpan Fresh = TimeSpan.FromSeconds(300);

    /// <summary>Lower-case hex. The key is the text of the secret as you got it: not decoded, not trimmed.</summary>
    public static string Sign(string secret, string text, byte[] body)
    {
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            byte[] head = Encoding.UTF8.GetBytes(text);
            hmac.TransformBlock(head, 0, head.Length, null, 0);
            hmac.TransformFinalBlock(body, 0, body.Length);
            return BitConverter.ToString(hmac.Hash).Replace("-", "").ToLowerInvariant();
        }
    }

    /// <summary>In constant time.</summary>
    private static bool Matches(string expected, string given) =>
        CryptographicOperations.FixedTimeEquals(
            Encoding.UTF8.GetBytes(expected), Encoding.UTF8.GetBytes(given ?? ""));

    /// <summary>An answer of the staking API: path without the query, body as received, before it is deserialised.</summary>
    public static bool IsFromStakingApi(string secret, string method, string path, byte[] body, string signature) =>
        Matches(Sign(secret, method + path, body), signature);

    private static DateTimeOffset Time(string text) =>
        DateTimeOffset.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);

    /// <summary>The signature of an answer of the staking API does not expire: one that is older may be a replay.</summary>
    public static bool IsTimely(string requestedAt, DateTimeOffset now) => (now - Time(requestedAt)).Duration() <= Fresh;

    /// <summary>
    /// Whether snapshots are those that you asked for, after their signature was verified: it does not cover the query.
    /// </summary>
    public static bool AnswersQuestion(Snapshots answer, Asked asked, DateTimeOffset now)
    {
        DateTime last = asked.EndDay == null
            ? Time(answer.RequestedAt).UtcDateTime.Date.AddDays(-1)
            : Time(asked.EndDay).UtcDateTime;
        return IsTimely(answer.RequestedAt, now)
            && answer.WalletAddress == asked.Wallet
            && answer.Contract == asked.Contract
            && answer.From.Count == asked.LastDays
            && answer.From
                .Select((from, place) => Time(from).UtcDateTime == last.AddDays(place + 1 - asked.LastDays))
                .All(isRight => isRight);
    }

    /// <summary>A call to one of your endpoints; the body is empty for the balance read.</summary>
    public static bool IsOurCall(
        string secret, string method, string path, string requestId, byte[] body, string signature) =>
        Matches(Sign(secret, method + path + requestId, body), signature);

    /// <summary>X-API-REQUEST is a UUID of version 7: its first 48 bits are the time, in milliseconds.</summary>
    public static bool IsFresh(string requestId, DateTimeOffset now)
    {
        string digits = (requestId ?? "").Replace("-", "");
        if (digits.Length != 32 || digits[12] != '7') return false;
        if (!long.TryParse(
                digits.Substring(0, 12), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out long ms))
        {
            return false;
        }
        // In milliseconds, because 48 bits of them reach beyond the last DateTimeOffset.
        return Math.Abs(now.ToUnixTimeMilliseconds() - ms) <= Fresh.TotalMilliseconds;
    }

    /// <summary>For X-API-SIGNATURE of your answer: method, path and id of the call, and exactly the bytes that you send.</summary>
    public static string SignAnswer(string secret, string method, string path, string requestId, byte[] body) =>
        Sign(secret, method + path + requestId, body);
}

// ---- The rest checks the worked examples. ----

public static class Program
{
    /// <summary>Takes the snapshots of an example for the answer to its own question, and to no other.</summary>
    private static bool TellsQuestionsApart(byte[] body)
    {
        XElement fields = ReadJson(body);
        if (fields.Element("stakingSnapshots") == null) return true;
        var answer = new Snapshots
        {
            WalletAddress = fields.Element("walletAddress").Value,
            RequestedAt = fields.Element("requestedAt").Value,
            Contract = fields.Element("contract")?.Value,
            From = fields.Element("stakingSnapshots").Elements().Select(day => day.Element("from").Value).ToList(),
        };
        string wallet = answer.WalletAddress, nobody = "0x" + new string('0', 40);
        int days = answer.From.Count;
        DateTimeOffset now = DateTimeOffset.Parse(answer.RequestedAt, CultureInfo.InvariantCulture);
        var own = new Asked { Wallet = wallet, LastDays = days };
        var others = new[]
        {
            new Asked { Wallet = nobody, LastDays = days },
            new Asked { Wallet = wallet, LastDays = days + 1 },
            new Asked { Wallet = wallet, LastDays = days, EndDay = "2026-01-01" },
            new Asked { Wallet = wallet, LastDays = days, Contract = "eip155:1:" + nobody },
        };
        return Signatures.AnswersQuestion(answer, own, now)
            && !others.Any(other => Signatures.AnswersQuestion(answer, other, now))
            && !Signatures.AnswersQuestion(answer, own, now.AddSeconds(301))
            && !Signatures.AnswersQuestion(answer, own, now.AddSeconds(-301));
    }

    private static bool Check(XElement vector)
    {
        Func<string, string> Text = name => vector.Element(name).Value;
        string secret = Text("secret"), method = Text("method"), path = Text("path"), signature = Text("signature");
        byte[] body = Encoding.UTF8.GetBytes(Text("body")), changed = Encoding.UTF8.GetBytes(Text("body") + " ");
        switch (Text("direction"))
        {
            case "staking API to partner":
                return Signatures.IsFromStakingApi(secret, method, path, body, signature)
                    && !Signatures.IsFromStakingApi(secret, method, path, changed, signature)
                    && TellsQuestionsApart(body);
            case "service to partner":
                return Signatures.IsOurCall(secret, method, path, Text("xApiRequest"), body, signature)
                    && !Signatures.IsOurCall(secret, method, path, Text("xApiRequest"), changed, signature);
            case "partner to service":
                return Signatures.SignAnswer(secret, method, path, Text("xApiRequest"), body) == signature;
            default:
                return false;
        }
    }

    /// <summary>As elements, which every .NET can; in your program System.Text.Json is the usual choice.</summary>
    private static XElement ReadJson(byte[] json) =>
        XElement.Load(JsonReaderWriterFactory.CreateJsonReader(json, XmlDictionaryReaderQuotas.Max));

    public static int Main(string[] args)
    {
        string file = args.Length > 0 ? args[0] : "../../wire/signature-vectors.json";
        int count = 0, good = 0;
        foreach (XElement vector in ReadJson(File.ReadAllBytes(file)).Element("vectors").Elements())
        {
            count++;
            if (Check(vector)) good++;
            else Console.WriteLine("WRONG  " + vector.Element("name").Value);
        }
        Console.WriteLine($"{good} of {count} vectors verified");
        const string Id = "01a1fdfa-467b-7abc-8def-0123456789ab";
        DateTimeOffset made = DateTimeOffset.FromUnixTimeMilliseconds(1795262400123);
        const string Latest = "ffffffff-ffff-7fff-bfff-ffffffffffff";
        bool fresh = Signatures.IsFresh(Id, made.AddSeconds(299)) && !Signatures.IsFresh(Id, made.AddSeconds(301))
            && !Signatures.IsFresh(Latest, made);
        if (!fresh) Console.WriteLine("WRONG  freshness");
        return fresh && count > 0 && good == count ? 0 : 1;
    }
}
