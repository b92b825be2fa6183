<?php

/** The payment method of WooCommerce: settings, checkout, callbacks and refunds. */

declare(strict_types=1);

defined('ABSPATH') || exit;

use TurnpikePay\CallbackException;
use TurnpikePay\Turnpike;
use TurnpikePay\TurnpikeException;

class Turnpike_Gateway extends WC_Payment_Gateway
{
    private const PAYMENT_ID = '_turnpike_payment_id';
    private const SEQUENCE = '_turnpike_sequence';
    private const ATTEMPT = '_turnpike_attempt';

    public function __construct()
    {
        $this->id = 'turnpike';
        $this->method_title = 'Turnpike';
        $this->method_description = 'The payer pays on the payment page of your Turnpike gateway.';
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        add_action('woocommerce_update_options_payment_gateways_turnpike', [$this, 'process_admin_options']);
        // The address of the callbacks: /?wc-api=turnpike
        add_action('woocommerce_api_turnpike', [$this, 'receive_callback']);
    }

    public function init_form_fields(): void
    {
        $field = fn (string $title, string $type = 'text', string $default = ''): array => compact('title', 'type', 'default');
        $this->form_fields = [
            'enabled' => $field('Enable Turnpike', 'checkbox', 'no'),
            'title' => $field('Title at the checkout', default: 'Card and other methods'),
            'url' => $field('Address of the gateway', default: 'http://127.0.0.1:8080'),
            'merchant_key' => $field('merchant_key'),
            'password' => $field('password', 'password'),
            'callback_secret' => $field('callback_secret (whsec_…)', 'password'),
        ];
    }

    /** Opens a session at the gateway; WooCommerce redirects the payer to its page. */
    public function process_payment($order_id): array
    {
        $order = wc_get_order($order_id);
        try {
            $session = $this->client()->session([
                'order' => [
                    'number' => $this->next_order_number($order),
                    'amount' => wc_format_decimal($order->get_total(), wc_get_price_decimals()),
                    'currency' => $order->get_currency(),
                    'description' => 'Order ' . $order->get_order_number(),
                ],
                'customer' => array_filter([
                    'name' => trim($order->get_billing_first_name() . ' ' . $order->get_billing_last_name()),
                    'email' => $order->get_billing_email(),
                ]),
                'success_url' => $this->get_return_url($order),
                'cancel_url' => $order->get_cancel_order_url_raw(),
            ]);
        } catch (TurnpikeException $error) {
            $order->add_order_note('Turnpike: ' . $error->getMessage());
            wc_add_notice('The payment could not be started. Please try again.', 'error');
            return ['result' => 'failure'];
        }
        return ['result' => 'success', 'redirect' => $session['redirect_url']];
    }

    /** Receives a callback. The signature covers the raw bytes, so nothing else reads the body before. */
    public function receive_callback(): void
    {
        try {
            $event = $this->client()->receiveCallback();
        } catch (CallbackException $error) {
            $this->answer(400, $error->reason);
        }
        $order = wc_get_order((int) strtok($event['orderId'], '-'));
        // Another order number means that the callback belongs to another shop, or to an order that was deleted.
        if (!$order || $order->get_payment_method() !== $this->id) {
            $this->answer(404, 'order');
        }
        $this->apply($order, $event);
        $this->answer(200, 'ok');
    }

    /** Refunds through the gateway; the callback reports the outcome of a refund that takes longer. */
    public function process_refund($order_id, $amount = null, $reason = ''): bool|WP_Error
    {
        $order = wc_get_order($order_id);
        $payment_id = (string) $order->get_meta(self::PAYMENT_ID);
        if ($payment_id === '') {
            return new WP_Error('turnpike', 'This order has no payment at Turnpike.');
        }
        try {
            $answer = $this->client()->refund([
                'payment_id' => $payment_id,
                'amount' => wc_format_decimal($amount ?? $order->get_total(), wc_get_price_decimals()),
            ]);
        } catch (TurnpikeException $error) {
            $hint = $error->mayHaveHappened ? ' It may have been carried out: check the payment before you repeat it.' : '';
            return new WP_Error('turnpike', $error->getMessage() . $hint);
        }
        $order->add_order_note("Turnpike: refund of $amount is {$answer['result']}.");
        return true;
    }

    /** A number per attempt: an order that was declined can be paid again, also with another amount. */
    private function next_order_number(WC_Order $order): string
    {
        $attempt = (int) $order->get_meta(self::ATTEMPT) + 1;
        $order->update_meta_data(self::ATTEMPT, (string) $attempt);
        $order->save();
        return $order->get_id() . "-$attempt";
    }

    /**
     * A callback can arrive twice, or after a later one of the same payment: `sequence` tells. A shop with several
     * servers holds a lock of the database around this function.
     *
     * @param array<string, mixed> $event
     */
    private function apply(WC_Order $order, array $event): void
    {
        $known = (string) $order->get_meta(self::PAYMENT_ID);
        $is_same = $known === $event['paymentId'];
        if ($is_same && $event['sequence'] <= (int) $order->get_meta(self::SEQUENCE)) {
            return;
        }
        // An attempt that failed does not change an order that another attempt has paid.
        if (!$is_same && $known !== '' && $order->is_paid() && $event['state'] !== 'SETTLED') {
            return;
        }
        if (!$is_same && $order->is_paid() && $event['state'] === 'SETTLED') {
            $order->add_order_note("Turnpike: a second payment {$event['paymentId']} was made for this order. Refund one of them.");
            $order->save();
            return;
        }
        $order->update_meta_data(self::PAYMENT_ID, $event['paymentId']);
        $order->update_meta_data(self::SEQUENCE, (string) $event['sequence']);
        match ($event['state']) {
            'SETTLED' => $this->settle($order, $event),
            'DECLINED', 'EXPIRED', 'VOID', 'REVERSAL' => $order->update_status('failed', 'Turnpike: ' . $event['state']),
            'PENDING' => $order->update_status('on-hold', 'Turnpike: the payment is authorised or in progress.'),
            'CHARGEBACK' => $order->update_status('on-hold', 'Turnpike: the payer disputes the payment.'),
            default => $order->add_order_note('Turnpike: ' . $event['state']),
        };
        $order->save();
    }

    /** @param array<string, mixed> $event */
    private function settle(WC_Order $order, array $event): void
    {
        if ($order->is_paid()) {
            $order->add_order_note('Turnpike: ' . ($event['fields']['type'] ?? 'callback') . ' of a paid order.');
            return;
        }
        $amount = wc_format_decimal($order->get_total(), wc_get_price_decimals());
        $fields = $event['fields'];
        if ($fields['order_amount'] !== $amount || $fields['order_currency'] !== $order->get_currency()) {
            $order->update_status('on-hold', "Turnpike: {$fields['order_amount']} {$fields['order_currency']} were paid.");
            return;
        }
        $order->payment_complete($event['paymentId']);
    }

    private function client(): Turnpike
    {
        return new Turnpike(
            url: $this->get_option('url'),
            password: $this->get_option('password'),
            merchantKey: $this->get_option('merchant_key'),
            callbackSecret: $this->get_option('callback_secret'),
        );
    }

    /** The gateway repeats a callback until it gets a 2xx status. */
    private function answer(int $status, string $text): never
    {
        status_header($status);
        exit($text);
    }
}
