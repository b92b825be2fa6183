<?php

/** What the gateway says about a payment, in a callback or in the response to a status query. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

defined('ABSPATH') || exit;

final class Payment
{
    /** A payment does not go back to a state with a lower rank; late and repeated messages are recognised by it. */
    private const RANKS = [
        'PREPARE' => 0, 'REDIRECT' => 0, '3DS' => 0, 'PENDING' => 1,
        'DECLINED' => 2, 'VOID' => 2, 'REVERSAL' => 2, 'EXPIRED' => 2,
        'SETTLED' => 3, 'REFUND' => 4, 'CHARGEBACK' => 5,
    ];

    /** @param array<string, mixed> $fields the fields of the message */
    private function __construct(
        public readonly string $id,
        public readonly string $number,
        public readonly string $state,
        public readonly string $amount,
        public readonly string $currency,
        /** The number of the event within the payment; 0 if the message is not a callback. */
        public readonly int $sequence,
        public readonly array $fields,
    ) {
    }

    /** @param array<string, mixed> $event a verified callback */
    public static function ofCallback(array $event): self
    {
        $fields = $event['fields'];
        return new self(
            $event['paymentId'],
            $event['orderId'],
            $event['state'],
            (string) ($fields['order_amount'] ?? ''),
            (string) ($fields['order_currency'] ?? ''),
            $event['sequence'],
            $fields,
        );
    }

    /** @param array<string, mixed> $answer the response to a status query or to a recurring sale */
    public static function ofStatus(array $answer): self
    {
        $state = strtoupper((string) $answer['status']);
        return new self(
            (string) $answer['payment_id'],
            (string) $answer['order']['number'],
            $state === 'DECLINE' ? 'DECLINED' : $state,
            (string) $answer['order']['amount'],
            (string) $answer['order']['currency'],
            0,
            $answer,
        );
    }

    public function text(string $field): string
    {
        return is_scalar($this->fields[$field] ?? null) ? (string) $this->fields[$field] : '';
    }

    /** Whether the event of a callback has this type and this result. */
    public function isEvent(string $type, string $result): bool
    {
        return $this->sequence > 0 && $this->text('type') === $type && $this->text('status') === $result;
    }

    public function isPaid(): bool
    {
        return self::rank($this->state) >= self::RANKS['SETTLED'];
    }

    /** Whether the payment has ended without money. */
    public function hasFailed(): bool
    {
        return self::rank($this->state) === self::RANKS['DECLINED'];
    }

    public static function rank(string $state): int
    {
        return self::RANKS[$state] ?? 0;
    }
}
