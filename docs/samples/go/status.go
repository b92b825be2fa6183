// Queries the status of an order.
package main

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func sign(values ...string) string {
	// Only the letters a to z are converted, so that every language computes the same hash.
	text := strings.Map(func(letter rune) rune {
		if letter >= 'a' && letter <= 'z' {
			return letter - 'a' + 'A'
		}
		return letter
	}, strings.Join(values, "")+os.Getenv("TURNPIKE_PASSWORD"))
	return fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("%x", md5.Sum([]byte(text))))))
}

func send(path string, fields map[string]any) map[string]any {
	fields["merchant_key"] = env("TURNPIKE_MERCHANT_KEY", "YOUR_MERCHANT_KEY")
	body, _ := json.Marshal(fields)
	url := env("TURNPIKE_URL", "http://127.0.0.1:8080") + "/api/v1/" + path
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal(answer["error_message"])
	}
	return answer
}

func main() {
	orderID := "order-1"
	if len(os.Args) > 1 {
		orderID = os.Args[1]
	}
	payment := send("payment/status", map[string]any{"order_id": orderID, "hash": sign(orderID)})
	fmt.Println(payment["status"])
}
