<?php

/** WooCommerce Subscriptions: the first payment keeps the right to charge again, and renewals use it. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\TurnpikeException;
use WC_Order;
use WC_Subscription;

defined('ABSPATH') || exit;

final class Subscriptions
{
    private const FIRST = '_turnpike_first_payment';
    private const TOKEN = '_turnpike_recurring_token';

    public const FEATURES = [
        'subscriptions', 'multiple_subscriptions', 'subscription_cancellation', 'subscription_suspension',
        'subscription_reactivation', 'subscription_amount_changes', 'subscription_date_changes',
        'subscription_payment_method_change_admin',
    ];

    public static function register(): void
    {
        add_action('woocommerce_scheduled_subscription_payment_' . Gateway::ID, self::charge(...), 10, 2);
        add_filter('woocommerce_subscription_payment_meta', self::paymentMeta(...), 10, 2);
        add_action('woocommerce_subscription_validate_payment_meta_' . Gateway::ID, self::validate(...));
        // Orders and subscriptions are copied with their data, but payments and tokens belong to one of them only.
        add_filter('wc_subscriptions_object_data', fn (array $data): array => array_filter(
            $data,
            fn (string $key): bool => !str_starts_with($key, '_turnpike_'),
            ARRAY_FILTER_USE_KEY,
        ));
    }

    /** @return array<string, mixed> the fields of a session whose payment will be repeated */
    public static function sessionFields(WC_Order $order): array
    {
        return self::of($order) === [] ? [] : ['recurring_init' => true];
    }

    /** Whether the cart has a subscription whose first payment is free, which the gateway cannot start. */
    public static function isFreeAtFirst(): bool
    {
        return class_exists('WC_Subscriptions_Cart') && WC()->cart !== null
            && \WC_Subscriptions_Cart::cart_contains_subscription() && (float) WC()->cart->get_total('edit') === 0.0;
    }

    /** Stores with its subscriptions how the payment of an order can be repeated. */
    public static function remember(WC_Order $order, Payment $payment): void
    {
        $token = $payment->text('recurring_token');
        if ($token === '' || Attempt::of($order)?->hasPage === false) {
            return;
        }
        foreach (self::of($order) as $subscription) {
            $subscription->update_meta_data(self::FIRST, $payment->id);
            $subscription->update_meta_data(self::TOKEN, $token);
            $subscription->save();
        }
    }

    /** Charges a renewal; called by the schedule of WooCommerce Subscriptions. */
    public static function charge(float|string $amount, WC_Order $renewal): void
    {
        Lock::order($renewal->get_id(), function (WC_Order $order) use ($amount): void {
            if (!$order->needs_payment()) {
                return;
            }
            $subscription = array_values(self::of($order))[0] ?? null;
            $first = (string) $subscription?->get_meta(self::FIRST);
            $token = (string) $subscription?->get_meta(self::TOKEN);
            if ($first === '' || $token === '') {
                $order->update_status('failed', __('Turnpike: the subscription has no payment that can be repeated.', 'turnpike-gateway'));
                return;
            }
            $attempt = Attempt::start($order, hasPage: false);
            Checks::schedule($order->get_id(), $attempt->number);
            try {
                $answer = Settings::client()->checkout('payment/recurring', [
                    'recurring_init_trans_id' => $first,
                    'recurring_token' => $token,
                    'order' => [
                        'number' => $attempt->number,
                        'amount' => Money::text($amount, $attempt->currency),
                        'currency' => $attempt->currency,
                        /* translators: %s: the number of an order */
                        'description' => sprintf(__('Renewal order %s', 'turnpike-gateway'), $order->get_order_number()),
                    ],
                ]);
            } catch (TurnpikeException $error) {
                self::explain($order, $error);
                return;
            }
            Orders::apply($order, Payment::ofStatus($answer));
        });
    }

    /** A charge whose outcome is unknown waits for the callback or the check; it is not repeated. */
    private static function explain(WC_Order $order, TurnpikeException $error): void
    {
        $note = 'Turnpike: ' . $error->getMessage();
        $order->update_status($error->mayHaveHappened ? 'on-hold' : 'failed', $note);
    }

    /**
     * What an administrator may change at a subscription.
     *
     * @param array<string, mixed> $meta
     * @return array<string, mixed>
     */
    private static function paymentMeta(array $meta, WC_Subscription $subscription): array
    {
        $field = fn (string $key, string $label): array => ['value' => $subscription->get_meta($key), 'label' => $label];
        $meta[Gateway::ID] = ['post_meta' => [
            self::FIRST => $field(self::FIRST, __('First payment (id)', 'turnpike-gateway')),
            self::TOKEN => $field(self::TOKEN, __('Recurring token', 'turnpike-gateway')),
        ]];
        return $meta;
    }

    /** @param array<string, array<string, array<string, string>>> $meta */
    private static function validate(array $meta): void
    {
        if (!wp_is_uuid($meta['post_meta'][self::FIRST]['value'] ?? '')) {
            throw new \Exception(esc_html__('The id of the first payment should be a UUID.', 'turnpike-gateway'));
        }
        if (($meta['post_meta'][self::TOKEN]['value'] ?? '') === '') {
            throw new \Exception(esc_html__('The recurring token should not be empty.', 'turnpike-gateway'));
        }
    }

    /** @return array<int, WC_Subscription> the subscriptions that the order belongs to */
    private static function of(WC_Order $order): array
    {
        return function_exists('wcs_get_subscriptions_for_order')
            ? wcs_get_subscriptions_for_order($order, ['order_type' => ['parent', 'renewal', 'resubscribe', 'switch']])
            : [];
    }
}
