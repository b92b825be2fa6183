// Opens a Checkout session and prints the response with the address of its payment page.
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

class Session {
    static String env(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }

    static String hex(String algorithm, String text) throws Exception {
        byte[] digest = MessageDigest.getInstance(algorithm).digest(text.getBytes(UTF_8));
        return String.format("%0" + digest.length * 2 + "x", new BigInteger(1, digest));
    }

    static String sign(String... values) throws Exception {
        String text = String.join("", values) + env("TURNPIKE_PASSWORD", "");
        // Only the letters a to z are converted, so that every language computes the same hash.
        String upper = Pattern.compile("[a-z]").matcher(text).replaceAll(letter -> letter.group().toUpperCase());
        return hex("SHA-1", hex("MD5", upper));
    }

    /** Sends JSON and returns JSON; a JSON library of your choice writes the one and reads the other. */
    static String send(String path, String json) throws Exception {
        HttpRequest request = HttpRequest
            .newBuilder(URI.create(env("TURNPIKE_URL", "http://127.0.0.1:8080") + "/api/v1/" + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IllegalStateException(response.body());
        return response.body();
    }

    public static void main(String[] arguments) throws Exception {
        String merchantKey = env("TURNPIKE_MERCHANT_KEY", "YOUR_MERCHANT_KEY");
        String number = arguments.length > 0 ? arguments[0] : "order-1";
        System.out.println(send("session", """
            {
              "merchant_key": "%s",
              "operation": "purchase",
              "order": {"number": "%s", "amount": "19.99", "currency": "USD", "description": "Two teapots"},
              "success_url": "https://example.com/thanks",
              "hash": "%s"
            }""".formatted(merchantKey, number, sign(number, "19.99", "USD", "Two teapots"))));
    }
}
