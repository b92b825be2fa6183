<?php

/** Payers who come back from the payment page, also in another browser or without the cookies of the shop. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use WC_Order;

defined('ABSPATH') || exit;

final class Returns
{
    /** The part of an address that proves that the payer came from the page of the order. */
    private const PROOF = 'turnpike_return';
    /** How long after the session a payer without cookies may still see the order. */
    private const GRACE_SECONDS = 600;

    public static function register(): void
    {
        // WooCommerce asks payers without a session to sign in, or for the e-mail address of the order.
        add_filter('woocommerce_order_received_verify_known_shoppers', function (mixed $isAsked): bool {
            $order = wc_get_order(absint(get_query_var('order-received')));
            return (bool) $isAsked && !($order instanceof WC_Order && self::isProven($order));
        });
        add_filter(
            'woocommerce_order_email_verification_required',
            fn (mixed $isAsked, mixed $order): bool => (bool) $isAsked && !($order instanceof WC_Order && self::isProven($order)),
            10,
            2,
        );
    }

    public static function address(WC_Order $order, Attempt $attempt, string $outcome): string
    {
        return add_query_arg(
            ['order_id' => $order->get_id(), self::PROOF => $attempt->secret, 'outcome' => $outcome],
            WC()->api_request_url('turnpike_return'),
        );
    }

    /** Asks the gateway how the payment ended, and sends the payer to the page of the shop for it. */
    public static function receive(): never
    {
        // The address is opened from another site: the proof takes the place of a nonce.
        // phpcs:disable WordPress.Security.NonceVerification.Recommended
        $order = wc_get_order(absint($_GET['order_id'] ?? 0));
        $outcome = sanitize_key($_GET['outcome'] ?? '');
        // phpcs:enable
        $attempt = $order instanceof WC_Order ? Attempt::of($order) : null;
        if ($attempt === null || !hash_equals($attempt->secret, self::proof())) {
            self::redirect(wc_get_page_permalink('shop'));
        }
        try {
            Checks::now($order->get_id(), $attempt->number);
        } catch (\RuntimeException $error) {
            // The callback or the scheduled check applies the outcome.
            Checks::log($order->get_id(), $error);
        }
        $order = Orders::fresh($order->get_id());
        $isPaid = !$order->needs_payment();
        if (!$isPaid && $outcome !== 'success') {
            wc_add_notice(__('The payment was not completed. You can try again or choose another method.', 'turnpike-gateway'), 'notice');
        }
        $isWaiting = $isPaid || $outcome === 'success';
        self::redirect(add_query_arg(
            self::PROOF,
            $attempt->secret,
            $isWaiting ? $order->get_checkout_order_received_url() : $order->get_checkout_payment_url(),
        ));
    }

    private static function isProven(WC_Order $order): bool
    {
        $attempt = Attempt::of($order);
        return $attempt !== null && $attempt->hasPage
            && time() < $attempt->expiresAt + self::GRACE_SECONDS
            && hash_equals($attempt->secret, self::proof());
    }

    private static function proof(): string
    {
        // phpcs:ignore WordPress.Security.NonceVerification.Recommended
        $given = $_GET[self::PROOF] ?? '';
        return is_string($given) ? sanitize_key($given) : '';
    }

    private static function redirect(string $address): never
    {
        nocache_headers();
        // 303: a payer who was sent here by a form arrives with GET, and with the cookies of the shop.
        wp_safe_redirect($address, 303);
        exit;
    }
}
