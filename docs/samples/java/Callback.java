// Verifies a callback. Arguments: its three headers; standard input: the raw body.
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import static java.nio.charset.StandardCharsets.UTF_8;

class Callback {
    static boolean isSigned(String id, String timestamp, String signatures, byte[] body) throws Exception {
        String secret = System.getenv("TURNPIKE_CALLBACK_SECRET").replaceFirst("^whsec_", "");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
        String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        boolean isNew = timestamp.matches("\\d{1,12}")
            && Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) <= 300;
        boolean isRight = false;
        for (String one : signatures.split(" ")) {
            isRight |= MessageDigest.isEqual(one.getBytes(UTF_8), expected.getBytes(UTF_8));
        }
        return isNew && isRight;
    }

    public static void main(String[] headers) throws Exception {
        boolean isValid = isSigned(headers[0], headers[1], headers[2], System.in.readAllBytes());
        System.out.println(isValid ? "valid" : "invalid");
        System.exit(isValid ? 0 : 1);
    }
}
