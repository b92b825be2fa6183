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

$reversed = array_filter(
    $vectors('recipes'),
    fn (array $vector): bool => $vector['recipe'] === 'reversed_md5'
        && !($vector['accepted_only'] ?? false)
        && ($vector['callback'] ?? '') !== 'checkout',
);
foreach ($reversed as $vector) {
    $isCard = $vector['payment'] === 'card';
    [$password, $digest, $hash] = [$vector['password'], $vector['digest'], $vector['hash']];
    if (isset($vector['request'])) {
        $values = $vector['values'];
        $payment = $isCard ? ['payerEmail' => $values['payer_email'] ?? '', 'card' => $values['card'] ?? ''] : null;
        $right = Turnpike::signReversed($vector['request'], $values, $password, $digest, $payment);
        $check($right === $hash, "{$vector['request']}: {$vector['note']}");
    } else {
        $fields = $vector['fields'];
        $payment = $isCard ? ['payerEmail' => $vector['payer_email'], 'card' => '4111111111'] : null;
        $check(Turnpike::isReversedCallback($hash, $fields, $password, $digest, $payment), $vector['note']);
        $changed = ['trans_id' => 'x'] + $fields;
        $check(!Turnpike::isReversedCallback($hash, $changed, $password, $digest, $payment), $vector['note']);
        // A whole callback of such an account, with its names in brackets.
        $query = http_build_query($fields + ['hash' => $hash]);
        $key = random_bytes(32);
        $signed = 'v1,' . base64_encode(hash_hmac('sha256', "id.1000.$query", $key, true));
        $headers = [
            'content-type' => 'application/x-www-form-urlencoded',
            'webhook-id' => 'id',
            'webhook-timestamp' => '1000',
            'webhook-signature' => $signed,
        ];
        $client = new Turnpike(
            'https://pay.example',
            $password,
            callbackSecret: 'whsec_' . base64_encode($key),
            digest: $digest,
            recipe: 'reversed_md5',
            cardPaymentOf: fn (string $paymentId, string $orderId): ?array => $payment,
        );
        try {
            $client->verifyCallback($headers, $query, 1000);
        } catch (CallbackException $error) {
            $check(false, "$error->reason: {$vector['note']}");
        }
    }
}

$client = new Turnpike('https://pay.example', 'a-secret-password', callbackSecret: 'whsec_c2VjcmV0');
$check(!str_contains(print_r($client, true), 'secret'), 'a dump shows no secret');

echo count($hashes), ' hashes, ', count($callbacks), ' callbacks, ', count($reversed), " of reversed_md5, $failed failed\n";
