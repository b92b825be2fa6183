<?php
// Verifies a callback. Arguments: its three headers; standard input: the raw body.
require 'Turnpike.php'; // the client in one file: client/php/Turnpike.php

$turnpike = new TurnpikePay\Turnpike(
    url: getenv('TURNPIKE_URL') ?: 'http://127.0.0.1:8080',
    password: getenv('TURNPIKE_PASSWORD'),
    callbackSecret: getenv('TURNPIKE_CALLBACK_SECRET'),
);
try {
    // In the script of the callback address: $event = $turnpike->receiveCallback();
    $turnpike->verifyCallback([
        'content-type' => 'application/x-www-form-urlencoded',
        'webhook-id' => $argv[1],
        'webhook-timestamp' => $argv[2],
        'webhook-signature' => $argv[3],
    ], file_get_contents('php://stdin'));
    echo "valid\n";
} catch (TurnpikePay\CallbackException) {
    echo "invalid\n";
    exit(1);
}
