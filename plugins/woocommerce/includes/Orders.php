<?php

/** Applies what the gateway says about a payment to its order, once, whatever the order of messages. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use Automattic\WooCommerce\Caches\OrderCache;
use WC_Order;

defined('ABSPATH') || exit;

final class Orders
{
    /** The payment that paid the order. */
    private const PAID_BY = '_turnpike_payment_id';
    /** Each payment of the order with its last state and the number of its last event: [id => [state, sequence]]. */
    private const PAYMENTS = '_turnpike_payments';

    /** The order as it is in the database now. */
    public static function fresh(int $order_id): WC_Order
    {
        clean_post_cache($order_id);
        wc_get_container()->get(OrderCache::class)->remove($order_id);
        $order = wc_get_order($order_id);
        return $order instanceof WC_Order ? $order : throw new \RuntimeException(esc_html("Order $order_id does not exist."));
    }

    public static function paidBy(WC_Order $order): string
    {
        return (string) $order->get_meta(self::PAID_BY);
    }

    /**
     * Applies a message to the order, which the caller has locked. What follows from the state is done before the state
     * is stored: if the process dies in between, the next message or check does it again.
     */
    public static function apply(WC_Order $order, Payment $payment): void
    {
        $payments = $order->get_meta(self::PAYMENTS) ?: [];
        [$state, $sequence] = $payments[$payment->id] ?? ['PREPARE', 0];
        if ($payment->sequence > 0 && $payment->sequence === $sequence) {
            return;
        }
        $isLate = $payment->sequence > 0 && $payment->sequence < $sequence;
        if (!$isLate && $payment->isEvent('chargeback', 'fail')) {
            $order->add_order_note(__('Turnpike: the bank returned the money of the chargeback.', 'turnpike-gateway'));
            $state = $payment->state;
        } elseif (!$isLate && Payment::rank($payment->state) > Payment::rank($state)) {
            self::enter($order, $payment, $state);
            $state = $payment->state;
        }
        // A late callback does not change the state, but its card or its refund belongs to the order.
        SavedCards::remember($order, $payment);
        Refunds::record($order, $payment);
        $payments[$payment->id] = [$state, max($sequence, $payment->sequence)];
        $order->update_meta_data(self::PAYMENTS, $payments);
        $order->save();
    }

    /** What follows when a payment enters a state; `$before` is the state that the order knew. */
    private static function enter(WC_Order $order, Payment $payment, string $before): void
    {
        if ($payment->isPaid() && Payment::rank($before) < Payment::rank('SETTLED')) {
            self::settle($order, $payment);
        }
        $isOfOrder = in_array(self::paidBy($order), ['', $payment->id], true);
        if (!$isOfOrder) {
            return;
        }
        if ($payment->state === 'CHARGEBACK') {
            $order->update_status('on-hold', __('Turnpike: the payer’s bank has charged the payment back.', 'turnpike-gateway'));
        } elseif ($payment->state === 'PENDING' && $order->needs_payment()) {
            $order->update_status('on-hold', __('Turnpike: the payment is in progress.', 'turnpike-gateway'));
        } elseif ($payment->hasFailed()) {
            self::fail($order, $payment, $before);
        }
    }

    /** An order is completed by a payment of its own amount, once. */
    private static function settle(WC_Order $order, Payment $payment): void
    {
        $paid_by = self::paidBy($order);
        if ($paid_by !== '' && $paid_by !== $payment->id) {
            $order->add_order_note(sprintf(
                /* translators: %s: the id of a payment */
                __('Turnpike: the payer has paid a second time, with payment %s. Refund it at the gateway.', 'turnpike-gateway'),
                $payment->id,
            ));
            return;
        }
        $order->update_meta_data(self::PAID_BY, $payment->id);
        // The payer may have chosen another method in another tab before paying.
        $order->set_payment_method('turnpike');
        Subscriptions::remember($order, $payment);
        $isExact = $payment->currency === $order->get_currency()
            && Money::isSame($payment->amount, $order->get_total(), $payment->currency);
        if (!$isExact) {
            $order->set_transaction_id($payment->id);
            $order->update_status('on-hold', sprintf(
                /* translators: %s: an amount with its currency */
                __('Turnpike: %s was paid, which is not the amount of the order.', 'turnpike-gateway'),
                "$payment->amount $payment->currency",
            ));
        } elseif ($order->is_paid()) {
            $order->set_transaction_id($payment->id);
            $order->add_order_note(__('Turnpike: the payment of this order has arrived.', 'turnpike-gateway'));
        } elseif (!$order->payment_complete($payment->id)) {
            throw new \RuntimeException(esc_html("Order {$order->get_id()} could not be completed."));
        }
    }

    /**
     * A declined payer can try again on the same page, so that a decline ends the order only if money was expected
     * without the payer: for a renewal, and for a payment that was in progress.
     */
    private static function fail(WC_Order $order, Payment $payment, string $before): void
    {
        if (self::paidBy($order) !== '' || $order->is_paid()) {
            return;
        }
        $note = trim(sprintf(
            /* translators: 1: a state such as DECLINED 2: a reason */
            __('Turnpike: the payment is %1$s. %2$s', 'turnpike-gateway'),
            $payment->state,
            $payment->text('reason'),
        ));
        $isRenewal = Attempt::of($order)?->hasPage === false;
        if ($isRenewal || ($before === 'PENDING' && $order->has_status('on-hold'))) {
            $order->update_status('failed', $note);
        } else {
            $order->add_order_note($note);
        }
    }
}
