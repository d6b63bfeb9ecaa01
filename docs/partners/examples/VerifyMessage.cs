// HTTP Message Signatures (RFC 9421) of our answers in C#, the .NET base library only (.NET 8 or newer). It has no Ed25519: ask
// for Accept-Signature: sig=();alg="hmac-sha256", or take a package such as NSec for ed25519.
//
//     dotnet run VerifyMessage.cs [message-signature-vectors.json]    checks the worked examples of hmac-sha256
using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

public sealed class Answer
{
    /// <summary>Of your request: its method, and path with query, as sent.</summary>
    public string Method, Target;
    public int Status;
    /// <summary>As received, before it is deserialised.</summary>
    public byte[] Body;
    /// <summary>The three headers.</summary>
    public string ContentDigest, SignatureInput, Signature;
}

public static class MessageSignatures
{
    private const string Covered = "(\"@status\" \"@method\";req \"@path\";req \"@query\";req \"content-digest\")";

    /// <summary>Answers that are more than five minutes older or newer than now are refused.</summary>
    public static bool IsOurAnswer(Answer answer, string secret, DateTimeOffset now)
    {
        string digest = Convert.ToBase64String(SHA256.HashData(answer.Body));
        if (answer.ContentDigest != "sha-256=:" + digest + ":") return false;
        string parameters = Regex.Replace(answer.SignatureInput, "^sig=", "");
        if (!parameters.StartsWith(Covered + ";", StringComparison.Ordinal)) return false;
        if (!Regex.IsMatch(parameters, ";alg=\"hmac-sha256\"")) return false;
        Match created = Regex.Match(parameters, ";created=([0-9]{1,15})(?:;|\\z)");
        if (!created.Success) return false;
        if (Math.Abs(now.ToUnixTimeSeconds() - long.Parse(created.Groups[1].Value)) > 300) return false;
        int mark = answer.Target.IndexOf('?');
        string path = mark < 0 ? answer.Target : answer.Target.Substring(0, mark);
        string query = mark < 0 ? "?" : answer.Target.Substring(mark);
        string content = string.Join("\n",
            "\"@status\": " + answer.Status,
            "\"@method\";req: " + answer.Method,
            "\"@path\";req: " + path,
            "\"@query\";req: " + query,
            "\"content-digest\": " + answer.ContentDigest,
            "\"@signature-params\": " + parameters);
        Match given = Regex.Match(answer.Signature, "^sig=:([A-Za-z0-9+/=]+):\\z");
        if (!given.Success) return false;
        byte[] expected = HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), Encoding.UTF8.GetBytes(content));
        try
        {
            return CryptographicOperations.FixedTimeEquals(expected, Convert.FromBase64String(given.Groups[1].Value));
        }
        catch (FormatException)
        {
            return false;
        }
    }
}

// ---- The rest checks the worked examples. ----

public static class Program
{
    public static int Main(string[] args)
    {
        string path = args.Length > 0 ? args[0] : "../../wire/message-signature-vectors.json";
        JsonElement file = JsonDocument.Parse(File.ReadAllText(path)).RootElement;
        string secret = file.GetProperty("secret").GetString();
        DateTimeOffset now = DateTimeOffset.FromUnixTimeSeconds(1795262400);
        int count = 0, good = 0;
        foreach (JsonElement vector in file.GetProperty("vectors").EnumerateArray())
        {
            Func<string, string> Text = name => vector.GetProperty(name).GetString();
            if (Text("algorithm") != "hmac-sha256") continue;
            count++;
            Func<string, Answer> Of = target => new Answer
            {
                Method = Text("method"),
                Target = target,
                Status = vector.GetProperty("status").GetInt32(),
                Body = Encoding.UTF8.GetBytes(Text("body")),
                ContentDigest = Text("contentDigest"),
                SignatureInput = Text("signatureInput"),
                Signature = Text("signature"),
            };
            bool right = MessageSignatures.IsOurAnswer(Of(Text("target")), secret, now);
            bool another = MessageSignatures.IsOurAnswer(Of(Text("target") + "1"), secret, now);
            if (right && !another) good++;
            else Console.WriteLine("WRONG  " + Text("name"));
        }
        Console.WriteLine($"{good} of {count} vectors verified");
        return count > 0 && good == count ? 0 : 1;
    }
}
