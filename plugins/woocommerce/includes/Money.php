<?php

/** Amounts as the gateway reads them: with the fraction digits of the currency, not those that the shop displays. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

defined('ABSPATH') || exit;

final class Money
{
    /** An amount of the shop, rounded to the minor unit of the currency. */
    public static function text(string|float|null $amount, string $currency): string
    {
        return number_format(round((float) $amount, self::digits($currency)), self::digits($currency), '.', '');
    }

    public static function isSame(string|float|null $one, string|float|null $other, string $currency): bool
    {
        return self::text($one, $currency) === self::text($other, $currency);
    }

    private static function digits(string $currency): int
    {
        static $exponents = null;
        $exponents ??= require __DIR__ . '/currencies.php';
        return $exponents[$currency] ?? 2;
    }
}
