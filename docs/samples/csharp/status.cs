// Queries the status of an order.
using System.Net.Http.Json;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

string Env(string name, string otherwise) => Environment.GetEnvironmentVariable(name) ?? otherwise;

string Sign(params string[] values)
{
    var text = string.Concat(values) + Env("TURNPIKE_PASSWORD", "");
    // Only the letters a to z are converted, so that every language computes the same hash.
    var upper = string.Concat(text.Select(letter => letter is >= 'a' and <= 'z' ? (char)(letter - 32) : letter));
    var md5 = Convert.ToHexString(MD5.HashData(Encoding.UTF8.GetBytes(upper))).ToLowerInvariant();
    return Convert.ToHexString(SHA1.HashData(Encoding.UTF8.GetBytes(md5))).ToLowerInvariant();
}

async Task<JsonObject> Send(string path, JsonObject fields)
{
    fields["merchant_key"] = Env("TURNPIKE_MERCHANT_KEY", "YOUR_MERCHANT_KEY");
    using var client = new HttpClient();
    var url = Env("TURNPIKE_URL", "http://127.0.0.1:8080") + "/api/v1/" + path;
    var response = await client.PostAsync(url, new StringContent(fields.ToJsonString(), Encoding.UTF8, "application/json"));
    var answer = (await response.Content.ReadFromJsonAsync<JsonObject>())!;
    return response.IsSuccessStatusCode ? answer : throw new Exception((string?)answer["error_message"]);
}

var orderId = args.Length > 0 ? args[0] : "order-1";
var payment = await Send("payment/status", new JsonObject { ["order_id"] = orderId, ["hash"] = Sign(orderId) });
Console.WriteLine((string?)payment["status"]);
