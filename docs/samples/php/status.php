<?php
// Queries the status of an order.
require 'Turnpike.php'; // the client in one file: client/php/Turnpike.php

$turnpike = new TurnpikePay\Turnpike(
    url: getenv('TURNPIKE_URL') ?: 'http://127.0.0.1:8080',
    password: getenv('TURNPIKE_PASSWORD'),
    merchantKey: getenv('TURNPIKE_MERCHANT_KEY') ?: 'YOUR_MERCHANT_KEY',
);
$payment = $turnpike->status(['order_id' => $argv[1] ?? 'order-1']);
echo $payment['status'], "\n";
