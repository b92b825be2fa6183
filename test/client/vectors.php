<?php

/** Checks the PHP client against the vectors; prints one line for each that fails, and a last line with the counts. */

declare(strict_types=1);

use TurnpikePay\CallbackException;
use TurnpikePay\Turnpike;

require __DIR__ . '/../../client/php/Turnpike.php';

$vectors = fn (string $name): array => json_decode(
    (string) file_get_contents(__DIR__ . "/../../vectors/$name.json"),
    true,
    16,
    JSON_THROW_ON_ERROR,
);

$failed = 0;
$check = function (bool $isRight, string $note) use (&$failed): void {
    if (!$isRight) {
        $failed++;
        echo "failed: $note\n";
    }
};

$hashes = array_filter($vectors('hash'), fn (array $vector): bool => !($vector['accepted_only'] ?? false));
foreach ($hashes as $vector) {
    $check(Turnpike::sign($vector['fields'], $vector['password']) === $vector['hash'], $vector['note']);
}

$callbacks = $vectors('callbacks');
foreach ($callbacks as $vector) {
    $client = new Turnpike('https://pay.example', $vector['password'], callbackSecret: $vector['secret']);
    $isRight = $vector['hash_is_valid'] && $vector['signature_is_valid'];
    try {
        $event = $client->verifyCallback($vector['headers'], $vector['body'], $vector['now']);
        $check($isRight, $vector['note']);
        $sent = $vector['fields'];
        $check($event['orderId'] === ($sent['order_id'] ?? $sent['order_number']), $vector['note']);
        $check($event['fields']['hash'] === $vector['hash'], $vector['note']);
    } catch (CallbackException $error) {
        $check(!$isRight, $vector['note']);
        $check(($error->reason === 'hash') === $vector['signature_is_valid'], $vector['note']);
    }
}

$client = new Turnpike('https://pay.example', 'a-secret-password', callbackSecret: 'whsec_c2VjcmV0');
$check(!str_contains(print_r($client, true), 'secret'), 'a dump shows no secret');

echo count($hashes), ' hashes, ', count($callbacks), " callbacks, $failed failed\n";
