// Verifies a callback. Arguments: its three headers; standard input: the raw body.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func isSigned(id, timestamp, signatures string, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("TURNPIKE_CALLBACK_SECRET"), "whsec_"))
	seconds, wrong := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || wrong != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(one), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	body, _ := io.ReadAll(os.Stdin)
	if !isSigned(os.Args[1], os.Args[2], os.Args[3], body) {
		fmt.Println("invalid")
		os.Exit(1)
	}
	fmt.Println("valid")
}
