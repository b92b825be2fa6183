<?php

/** A conversation of the PHP client with a gateway, whose address and keys are in the environment; prints JSON. */

declare(strict_types=1);

use TurnpikePay\Turnpike;
use TurnpikePay\TurnpikeException;

require __DIR__ . '/../../client/php/Turnpike.php';

$client = fn (string $url, string $password): Turnpike => new Turnpike(
    url: $url,
    password: $password,
    clientKey: (string) getenv('TURNPIKE_CLIENT_KEY'),
    merchantKey: (string) getenv('TURNPIKE_MERCHANT_KEY'),
    retryPauseSeconds: 0.01,
);
$refusal = function (callable $call): array {
    try {
        $call();
        return [];
    } catch (TurnpikeException $error) {
        $dump = print_r($error, true) . $error->getTraceAsString();
        return [
            'reason' => $error->reason,
            'entries' => $error->entries,
            'param' => $error->param(),
            'expected' => $error->expected() !== null,
            'link' => preg_replace('~^https?://[^/]+~', '', (string) $error->link),
            'mayHaveHappened' => $error->mayHaveHappened,
            'showsPassword' => str_contains($dump, (string) getenv('TURNPIKE_PASSWORD')),
        ];
    }
};

$turnpike = $client((string) getenv('TURNPIKE_URL'), (string) getenv('TURNPIKE_PASSWORD'));
$sale = [
    'custom_data' => ['cart' => ['id' => '17']],
    'brand' => 'vcard',
    'identifier' => 'success@example.com',
    'order_id' => 'php-' . bin2hex(random_bytes(6)),
    'order_amount' => '10.00',
    'order_currency' => 'USD',
    'order_description' => 'Grüße & 1/2 ☕',
    'payer_ip' => '203.0.113.7',
    'return_url' => 'https://shop.example/return',
];
$sold = $turnpike->s2s('SALE', ['auth' => true] + $sale);
$trans = ['trans_id' => $sold['trans_id']];
$order = ['number' => $sale['order_id'] . '-2', 'amount' => '10.00', 'currency' => 'USD', 'description' => 'Čaj'];

echo json_encode([
    'sold' => $sold['status'],
    'captured' => $turnpike->s2s('CAPTURE', $trans)['status'],
    'refunded' => $turnpike->refund(['payment_id' => $sold['trans_id'], 'amount' => '4.00'])['result'],
    'status' => $turnpike->status(['order_id' => $sale['order_id']])['status'],
    'page' => $turnpike->session(['order' => $order, 'success_url' => 'https://shop.example/thanks'])['redirect_url'],
    'refusals' => [
        $refusal(fn () => $turnpike->s2s('SALE', ['order_amount' => '10'] + $sale)),
        $refusal(fn () => $client((string) getenv('TURNPIKE_URL'), 'wrong')->s2s('CAPTURE', $trans)),
        $refusal(fn () => $turnpike->s2s('CAPTURE', $trans)),
        $refusal(fn () => $client('http://127.0.0.1:1', 'x')->s2s('CAPTURE', $trans)),
    ],
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES), "\n";
