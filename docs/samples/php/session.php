<?php
// Opens a Checkout session and prints the address of its payment page.
require 'Turnpike.php'; // the client in one file: client/php/Turnpike.php

$turnpike = new TurnpikePay\Turnpike(
    url: getenv('TURNPIKE_URL') ?: 'http://127.0.0.1:8080',
    password: getenv('TURNPIKE_PASSWORD'),
    merchantKey: getenv('TURNPIKE_MERCHANT_KEY') ?: 'YOUR_MERCHANT_KEY',
);
$session = $turnpike->session([
    'order' => [
        'number' => $argv[1] ?? 'order-1',
        'amount' => '19.99',
        'currency' => 'USD',
        'description' => 'Two teapots',
    ],
    'success_url' => 'https://example.com/thanks',
]);
echo $session['redirect_url'], "\n";
