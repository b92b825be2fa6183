<?php

/** The page on which a payer pays an order: one at a time, also when the order is open in several tabs. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\TurnpikeException;
use WC_Order;

defined('ABSPATH') || exit;

final class Sessions
{
    /** The address to which the payer of the order goes: the page, or the shop if the order is paid. */
    public static function addressFor(int $order_id): string
    {
        $attempt = Attempt::of(Orders::fresh($order_id));
        if ($attempt !== null) {
            Checks::now($order_id, $attempt->number);
        }
        return Lock::order($order_id, function (WC_Order $order): string {
            if (!$order->needs_payment()) {
                return $order->get_checkout_order_received_url();
            }
            $attempt = Attempt::of($order);
            return $attempt?->isOpenFor($order) ? $attempt->url : self::open($order);
        });
    }

    /** The number and the check are stored before the gateway is called, so that a payment is always found. */
    private static function open(WC_Order $order): string
    {
        $attempt = Attempt::start($order, hasPage: true);
        Checks::schedule($order->get_id(), $attempt->number);
        $return = fn (string $outcome): string => Returns::address($order, $attempt, $outcome);
        $answer = Settings::client()->session([
            'order' => [
                'number' => $attempt->number,
                'amount' => $attempt->amount,
                'currency' => $attempt->currency,
                'description' => sprintf(
                    /* translators: 1: the number of an order 2: the name of the shop */
                    __('Order %1$s at %2$s', 'turnpike-gateway'),
                    $order->get_order_number(),
                    wp_specialchars_decode(get_bloginfo('name'), ENT_QUOTES),
                ),
            ],
            'session_expiry' => Attempt::SESSION_MINUTES,
            'customer' => array_filter([
                'name' => trim($order->get_billing_first_name() . ' ' . $order->get_billing_last_name()),
                'email' => $order->get_billing_email(),
            ]),
            'billing_address' => array_filter([
                'country' => $order->get_billing_country(),
                'state' => $order->get_billing_state(),
                'city' => $order->get_billing_city(),
                'address' => trim($order->get_billing_address_1() . ' ' . $order->get_billing_address_2()),
                'zip' => $order->get_billing_postcode(),
                'phone' => $order->get_billing_phone(),
            ]),
            'success_url' => $return('success'),
            'cancel_url' => $return('cancel'),
            'expiry_url' => $return('expiry'),
        ] + SavedCards::sessionFields($order) + Subscriptions::sessionFields($order));
        return $attempt->withUrl($order, $answer['redirect_url'])->url;
    }
}
