<?php

/** Receives the callbacks of the gateway; their address is /?wc-api=turnpike. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\CallbackException;
use WC_Order;

defined('ABSPATH') || exit;

final class Callbacks
{
    /** The gateway repeats a callback until it gets a 2xx status. */
    public static function receive(): never
    {
        try {
            // The signature covers the raw bytes, so nothing else reads the body before.
            $event = Settings::client()->receiveCallback();
        } catch (CallbackException $error) {
            self::answer(400, $error->reason);
        } catch (\InvalidArgumentException) {
            self::answer(503, 'settings');
        }
        $order_id = Attempt::orderOf($event['orderId']);
        $order = $order_id === null ? null : wc_get_order($order_id);
        // The callback belongs to another shop of the account, or to an order that was deleted.
        if (!$order instanceof WC_Order || Attempt::count($order) === 0) {
            self::answer(404, 'order');
        }
        try {
            Lock::order($order_id, fn (WC_Order $order) => Orders::apply($order, Payment::ofCallback($event)));
        } catch (\RuntimeException $error) {
            Checks::log($order_id, $error);
            self::answer(503, 'order');
        }
        self::answer(200, 'ok');
    }

    private static function answer(int $status, string $text): never
    {
        status_header($status);
        nocache_headers();
        header('Content-Type: text/plain; charset=utf-8');
        exit(esc_html($text));
    }
}
