<?php

/** The newest attempt to pay an order: its number at the gateway, and the page on which the payer pays. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use WC_Order;

defined('ABSPATH') || exit;

final class Attempt
{
    private const META = '_turnpike_attempt';

    /** How long the payer has; the gateway closes the page then. */
    public const SESSION_MINUTES = 60;

    private function __construct(
        public readonly int $count,
        public readonly string $number,
        public readonly string $amount,
        public readonly string $currency,
        /** Whether the payer pays on a page; a renewal is charged without the payer. */
        public readonly bool $hasPage,
        public readonly int $expiresAt,
        /** Proves that a returning payer came from this page. */
        public readonly string $secret,
        /** The address of the page; empty until the gateway has answered. */
        public readonly string $url,
    ) {
    }

    public static function of(WC_Order $order): ?self
    {
        $stored = $order->get_meta(self::META);
        return is_array($stored) ? new self(...$stored) : null;
    }

    /** The number of attempts. The plugin was an example once, which stored only this number. */
    public static function count(WC_Order $order): int
    {
        return self::of($order)?->count ?? (int) $order->get_meta(self::META);
    }

    /** A new attempt, stored before the gateway is called. Each has a number of its own, so that amounts may change. */
    public static function start(WC_Order $order, bool $hasPage): self
    {
        $count = self::count($order) + 1;
        return (new self(
            count: $count,
            number: Settings::get('order_prefix') . $order->get_id() . "-$count",
            amount: Money::text($order->get_total(), $order->get_currency()),
            currency: $order->get_currency(),
            hasPage: $hasPage,
            expiresAt: time() + self::SESSION_MINUTES * MINUTE_IN_SECONDS,
            secret: bin2hex(random_bytes(16)),
            url: '',
        ))->store($order);
    }

    public function withUrl(WC_Order $order, string $url): self
    {
        return (new self(...[...get_object_vars($this), 'url' => $url]))->store($order);
    }

    /** Whether the payer can still pay this order on the page. */
    public function isOpenFor(WC_Order $order): bool
    {
        return $this->url !== '' && !$this->isOver()
            && $this->currency === $order->get_currency()
            && Money::isSame($this->amount, $order->get_total(), $this->currency);
    }

    public function isOver(): bool
    {
        return !$this->hasPage || time() >= $this->expiresAt;
    }

    /** The order that an order number of the gateway belongs to; null if it is not one of this shop. */
    public static function orderOf(string $number): ?int
    {
        $pattern = '/^' . preg_quote(Settings::get('order_prefix'), '/') . '([1-9]\d{0,18})-\d+$/D';
        return preg_match($pattern, $number, $found) === 1 ? (int) $found[1] : null;
    }

    private function store(WC_Order $order): self
    {
        $order->update_meta_data(self::META, get_object_vars($this));
        $order->save_meta_data();
        return $this;
    }
}
