<?php

/** Asks the gateway about open payments, so that an order does not depend on callbacks that may be blocked. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\TurnpikeException;
use WC_Order;

defined('ABSPATH') || exit;

final class Checks
{
    public const HOOK = 'turnpike_check_order';
    public const GROUP = 'turnpike';

    /** The pauses between checks in seconds; the last one is repeated until the checks end. */
    private const PAUSES = [120, 180, 300, 600, 1200, 1800, 3600, 10_800, 21_600, 43_200, 86_400];
    private const MOST = 40;

    public static function schedule(int $order_id, string $number, int $made = 0): void
    {
        if ($made < self::MOST) {
            $pause = self::PAUSES[min($made, count(self::PAUSES) - 1)];
            as_schedule_single_action(time() + $pause, self::HOOK, [$order_id, $number, $made], self::GROUP);
        }
    }

    /** One scheduled check. The next one is scheduled first, so that it happens even if this process dies. */
    public static function run(int $order_id, string $number, int $made): void
    {
        if (!wc_get_order($order_id)) {
            return;
        }
        self::schedule($order_id, $number, $made + 1);
        if (self::now($order_id, $number)) {
            as_unschedule_action(self::HOOK, [$order_id, $number, $made + 1], self::GROUP);
        }
    }

    /** Asks the gateway and applies the answer; returns whether the attempt is over. */
    public static function now(int $order_id, string $number): bool
    {
        try {
            $answer = Settings::client()->status(['order_id' => $number]);
        } catch (TurnpikeException $error) {
            if ($error->reason !== 'unknownOrder') {
                self::log($order_id, $error);
                return false;
            }
            return Lock::order($order_id, fn (WC_Order $order): bool => self::close($order, $number));
        } catch (\InvalidArgumentException $error) {
            // The settings are incomplete.
            self::log($order_id, $error);
            return false;
        }
        return Lock::order($order_id, function (WC_Order $order) use ($answer, $number): bool {
            $payment = Payment::ofStatus($answer);
            Orders::apply($order, $payment);
            return $payment->isPaid() || ($payment->hasFailed() && self::isOver($order, $number));
        });
    }

    private static function isOver(WC_Order $order, string $number): bool
    {
        $attempt = Attempt::of($order);
        return $attempt === null || $attempt->number !== $number || $attempt->isOver();
    }

    /** The gateway never received the attempt: a renewal has failed, and a payer can start again. */
    private static function close(WC_Order $order, string $number): bool
    {
        $attempt = Attempt::of($order);
        if ($attempt?->number === $number && !$attempt->hasPage && $order->has_status(['pending', 'on-hold'])) {
            $order->update_status('failed', __('Turnpike: the charge did not reach the gateway.', 'turnpike-gateway'));
        }
        return self::isOver($order, $number);
    }

    public static function log(int $order_id, \Throwable $error): void
    {
        wc_get_logger()->warning("Order $order_id: {$error->getMessage()}", ['source' => 'turnpike']);
    }
}
