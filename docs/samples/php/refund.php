<?php
// Refunds a part of a payment. Arguments: the payment id and the amount.
require 'Turnpike.php'; // the client in one file: client/php/Turnpike.php

$turnpike = new TurnpikePay\Turnpike(
    url: getenv('TURNPIKE_URL') ?: 'http://127.0.0.1:8080',
    password: getenv('TURNPIKE_PASSWORD'),
    merchantKey: getenv('TURNPIKE_MERCHANT_KEY') ?: 'YOUR_MERCHANT_KEY',
);
$refund = $turnpike->refund(['payment_id' => $argv[1], 'amount' => $argv[2]]);
echo $refund['result'], "\n";
