// Verifies a callback. Arguments: its three headers; standard input: the raw body.
using System.Security.Cryptography;
using System.Text;

bool IsSigned(string id, string timestamp, string signatures, byte[] body)
{
    var secret = Environment.GetEnvironmentVariable("TURNPIKE_CALLBACK_SECRET") ?? "";
    var key = Convert.FromBase64String(secret.StartsWith("whsec_") ? secret[6..] : secret);
    var text = Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray();
    var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(HMACSHA256.HashData(key, text)));
    var isNew = long.TryParse(timestamp, out var seconds)
        && Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) <= 300;
    return isNew && signatures.Split(' ')
        .Any(one => CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(one), expected));
}

using var input = new MemoryStream();
await Console.OpenStandardInput().CopyToAsync(input);
var isValid = IsSigned(args[0], args[1], args[2], input.ToArray());
Console.WriteLine(isValid ? "valid" : "invalid");
return isValid ? 0 : 1;
