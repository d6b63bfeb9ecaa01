// HTTP Message Signatures (RFC 9421) of our answers in C# 7 or newer, the base library only: .NET Core 3, .NET 5 to 10, Mono 6.
// It has no Ed25519: ask for Accept-Signature: sig=();alg="hmac-sha256";nonce="…", the nonce fresh for each request, or take a package such as NSec for ed25519.
//
//     dotnet run VerifyMessage.cs [message-signature-vectors.json]    checks the worked examples of hmac-sha256 (.NET 10; before
//                                                                     that and with Mono as Verify.cs)
using System;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;

public sealed class Answer
{
    /// <summary>Of your request: its method, and path with query, as sent.</summary>
    public string Method, Target;
    public int Status;
    /// <summary>As received, before it is deserialised.</summary>
    public byte[] Body;
    /// <summary>The headers; null where one is missing. X-Sealed-Day is that of a list, in place of Content-Digest.</summary>
    public string ContentDigest, SealedDay, SignatureInput, Signature;
}

public static class MessageSignatures
{
    private const string OfRequest = "\"@status\" \"@method\";req \"@path\";req \"@query\";req";

    /// <summary>Answers that are more than five minutes older or newer than now are refused.</summary>
    /// <param name="nonce">What this request asked for; empty: none.</param>
    /// <param name="covered">x-sealed-day for a list of a day: signed in place of the body, which its root proves.</param>
    public static bool IsOurAnswer(
        Answer answer, string secret, string nonce, DateTimeOffset now, string covered = "content-digest")
    {
        bool isOfBody = covered == "content-digest";
        string value = isOfBody ? answer.ContentDigest : answer.SealedDay;
        if (isOfBody && value != "sha-256=:" + Convert.ToBase64String(Sha256(answer.Body)) + ":") return false;
        string parameters = Regex.Replace(answer.SignatureInput ?? "", "^sig=", "");
        if (!parameters.StartsWith("(" + OfRequest + " \"" + covered + "\");", StringComparison.Ordinal)) return false;
        if (Regex.Match(parameters, ";nonce=\"([^\"\\\\]*)\"").Groups[1].Value != nonce) return false;
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
            "\"" + covered + "\": " + value,
            "\"@signature-params\": " + parameters);
        Match given = Regex.Match(answer.Signature ?? "", "^sig=:([A-Za-z0-9+/=]+):\\z");
        if (!given.Success) return false;
        byte[] expected = HmacSha256(secret, content);
        try
        {
            return CryptographicOperations.FixedTimeEquals(expected, Convert.FromBase64String(given.Groups[1].Value));
        }
        catch (FormatException)
        {
            return false;
        }
    }

    private static byte[] Sha256(byte[] content)
    {
        using (var sha256 = SHA256.Create()) return sha256.ComputeHash(content);
    }

    private static byte[] HmacSha256(string secret, string content)
    {
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            return hmac.ComputeHash(Encoding.UTF8.GetBytes(content));
        }
    }
}

// ---- The rest checks the worked examples. ----

public static class Program
{
    /// <summary>As elements, which every .NET can; in your program System.Text.Json is the usual choice.</summary>
    private static XElement ReadJson(string file) =>
        XElement.Load(JsonReaderWriterFactory.CreateJsonReader(File.ReadAllBytes(file), XmlDictionaryReaderQuotas.Max));

    private static Answer Read(XElement vector)
    {
        Func<string, string> Text = name => vector.Element(name) == null ? null : vector.Element(name).Value;
        return new Answer
        {
            Method = Text("method"),
            Target = Text("target"),
            Status = int.Parse(Text("status")),
            Body = Encoding.UTF8.GetBytes(Text("body") ?? ""),
            ContentDigest = Text("contentDigest"),
            SealedDay = Text("sealedDay"),
            SignatureInput = Text("signatureInput"),
            Signature = Text("signature"),
        };
    }

    private static bool IsGroup(XElement one) => one.Name == "vectors" || one.Name == "lists";

    public static int Main(string[] args)
    {
        XElement file = ReadJson(args.Length > 0 ? args[0] : "../../wire/message-signature-vectors.json");
        string secret = file.Element("secret").Value;
        int count = 0, good = 0;
        foreach (XElement vector in file.Elements().Where(IsGroup).SelectMany(group => group.Elements()))
        {
            if (vector.Element("algorithm").Value != "hmac-sha256") continue;
            count++;
            Answer answer = Read(vector), another = Read(vector), unsigned = Read(vector);
            another.Target += "1";
            unsigned.SignatureInput = unsigned.Signature = null;
            DateTimeOffset now = DateTimeOffset.FromUnixTimeSeconds(long.Parse(vector.Element("now").Value));
            Func<Answer, bool> IsOurs = one => MessageSignatures.IsOurAnswer(
                one, secret, vector.Element("nonce").Value, now, vector.Element("covered").Value);
            bool verified = IsOurs(answer) && !IsOurs(another) && !IsOurs(unsigned);
            if (verified) good++;
            else Console.WriteLine("WRONG  " + vector.Element("name").Value);
        }
        Console.WriteLine($"{good} of {count} vectors verified");
        return count > 0 && good == count ? 0 : 1;
    }
}
