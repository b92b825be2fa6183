<?php

/** Refunds of orders: from the order page through the gateway, and from the gateway's panel into the order. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\TurnpikeException;
use WC_Order;
use WC_Order_Refund;
use WP_Error;

defined('ABSPATH') || exit;

final class Refunds
{
    /** A refund that was sent and has no answer yet: [amount, operation id]. */
    private const OPEN = '_turnpike_open_refund';
    /** The operations that were sent from the order page. */
    private const SENT = '_turnpike_operations';
    /** The operation of a refund that was made at the gateway. */
    private const OPERATION = '_turnpike_operation';

    /** Refunds an order through the gateway. The caller has locked it. */
    public static function send(WC_Order $order, string $amount): true|WP_Error
    {
        $payment_id = Orders::paidBy($order);
        if ($payment_id === '') {
            return new WP_Error('turnpike', __('This order has no payment at Turnpike.', 'turnpike-gateway'));
        }
        $open = $order->get_meta(self::OPEN) ?: null;
        if ($open !== null && $open[0] !== $amount) {
            return new WP_Error('turnpike', sprintf(
                /* translators: %s: an amount */
                __('A refund of %s was sent and not answered. Repeat it with this amount first.', 'turnpike-gateway'),
                $open[0],
            ));
        }
        // A repeat has the id of the first request, so that the gateway carries it out once.
        $operation_id = $open[1] ?? wp_generate_uuid4();
        $order->update_meta_data(self::OPEN, [$amount, $operation_id]);
        $sent = $order->get_meta(self::SENT) ?: [];
        $order->update_meta_data(self::SENT, array_values(array_unique([...$sent, $operation_id])));
        $order->save_meta_data();
        try {
            Settings::client()->refund(compact('payment_id', 'amount', 'operation_id'));
        } catch (TurnpikeException $error) {
            if ($error->mayHaveHappened) {
                return new WP_Error('turnpike', sprintf(
                    /* translators: %s: an error message */
                    __('%s The refund may have been carried out. Repeat it with the same amount: it is not paid twice.', 'turnpike-gateway'),
                    $error->getMessage(),
                ));
            }
            self::close($order);
            return new WP_Error('turnpike', $error->getMessage());
        }
        self::close($order);
        $order->add_order_note(sprintf(
            /* translators: 1: an amount 2: the id of a refund */
            __('Turnpike: refund of %1$s sent (%2$s).', 'turnpike-gateway'),
            "$amount {$order->get_currency()}",
            $operation_id,
        ));
        return true;
    }

    /** Records a refund that a callback reports and that was not made from the order page. */
    public static function record(WC_Order $order, Payment $payment): void
    {
        if (Orders::paidBy($order) !== $payment->id) {
            return;
        }
        $operation_id = $payment->text('operation_id');
        $isOwn = in_array($operation_id, $order->get_meta(self::SENT) ?: [], true);
        if ($isOwn && $payment->isEvent('refund', 'fail')) {
            $order->add_order_note(sprintf(
                /* translators: %s: the id of a refund */
                __('Turnpike: the refund %s failed; the payer did not get the money. Delete it here and refund again.', 'turnpike-gateway'),
                $operation_id,
            ));
        } elseif (!$isOwn && $payment->isEvent('refund', 'success') && !self::isRecorded($order, $operation_id)) {
            self::create($order, $payment->text('operation_amount'), $operation_id);
        }
    }

    private static function isRecorded(WC_Order $order, string $operation_id): bool
    {
        foreach ($order->get_refunds() as $refund) {
            if ($refund->get_meta(self::OPERATION) === $operation_id) {
                return true;
            }
        }
        return false;
    }

    /** The refund is stored together with its operation, so that it is recorded once. */
    private static function create(WC_Order $order, string $amount, string $operation_id): void
    {
        $name = fn (WC_Order_Refund $refund) => $refund->update_meta_data(self::OPERATION, $operation_id);
        add_action('woocommerce_create_refund', $name);
        $refund = wc_create_refund([
            'order_id' => $order->get_id(),
            'amount' => $amount,
            'reason' => __('Refunded at the gateway', 'turnpike-gateway'),
            'refund_payment' => false,
        ]);
        remove_action('woocommerce_create_refund', $name);
        if ($refund instanceof WP_Error) {
            $order->add_order_note('Turnpike: ' . $refund->get_error_message());
        }
    }

    private static function close(WC_Order $order): void
    {
        $order->delete_meta_data(self::OPEN);
        $order->save_meta_data();
    }
}
