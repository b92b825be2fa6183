<?php

/** The payment method of WooCommerce: its settings form, the checkout and refunds. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\TurnpikeException;
use WC_Admin_Settings;
use WC_Order;
use WC_Payment_Gateway;
use WP_Error;

defined('ABSPATH') || exit;

final class Gateway extends WC_Payment_Gateway
{
    public const ID = 'turnpike';

    public function __construct()
    {
        $this->id = self::ID;
        $this->method_title = 'Turnpike';
        $this->method_description = __('Payers pay on the payment page of your Turnpike gateway.', 'turnpike-gateway');
        $this->has_fields = false;
        $this->supports = ['products', 'refunds', 'tokenization', ...Subscriptions::FEATURES];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        $this->description = $this->get_option('description');
        $this->view_transaction_url = rtrim($this->get_option('url'), '/') . '/panel/payments/%s';
        add_action('woocommerce_update_options_payment_gateways_' . self::ID, [$this, 'process_admin_options']);
    }

    public function init_form_fields(): void
    {
        $this->form_fields = Settings::fields();
    }

    public function needs_setup(): bool
    {
        return !Settings::areComplete();
    }

    public function is_available(): bool
    {
        return parent::is_available() && Settings::areComplete() && !Subscriptions::isFreeAtFirst();
    }

    /** The form of a payment on the payment page has no fields here: saved cards are chosen there as well. */
    public function payment_fields(): void
    {
        echo wp_kses_post(wpautop(wptexturize($this->get_description())));
    }

    /** Sends the payer to the page of the gateway. */
    public function process_payment($order_id): array
    {
        try {
            return ['result' => 'success', 'redirect' => Sessions::addressFor((int) $order_id)];
        } catch (TurnpikeException | LockedException $error) {
            Checks::log((int) $order_id, $error);
            if ($error instanceof TurnpikeException) {
                wc_get_order($order_id)->add_order_note('Turnpike: ' . $error->getMessage());
            }
            wc_add_notice(__('The payment could not be started. Please try again.', 'turnpike-gateway'), 'error');
            return ['result' => 'failure'];
        }
    }

    public function can_refund_order($order): bool
    {
        return $order instanceof WC_Order && parent::can_refund_order($order) && Orders::paidBy($order) !== '';
    }

    public function process_refund($order_id, $amount = null, $reason = ''): bool|WP_Error
    {
        try {
            return Lock::order((int) $order_id, fn (WC_Order $order): bool|WP_Error => Refunds::send(
                $order,
                Money::text($amount ?? $order->get_total(), $order->get_currency()),
            ));
        } catch (LockedException) {
            return new WP_Error('turnpike', __('Another request changes this order. Try again in a moment.', 'turnpike-gateway'));
        }
    }

    /** Saves the settings and tries them, so that a wrong password shows here and not at the first payment. */
    public function process_admin_options(): bool
    {
        $isSaved = parent::process_admin_options();
        if (Settings::areComplete()) {
            try {
                Settings::client(retries: 0)->status(['order_id' => 'connection-test']);
            } catch (TurnpikeException $error) {
                if ($error->reason !== 'unknownOrder') {
                    WC_Admin_Settings::add_error('Turnpike: ' . $error->getMessage());
                    return $isSaved;
                }
            } catch (\InvalidArgumentException $error) {
                WC_Admin_Settings::add_error('Turnpike: ' . $error->getMessage());
                return $isSaved;
            }
            WC_Admin_Settings::add_message(__('Turnpike: the gateway accepts the key and the password.', 'turnpike-gateway'));
        }
        return $isSaved;
    }

    /** Payers are redirected there with their data, so that only a test on this machine may do without TLS. */
    public function validate_url_field($key, $value): string
    {
        $address = esc_url_raw(rtrim(trim((string) $value), '/'), ['http', 'https']);
        $host = (string) wp_parse_url($address, PHP_URL_HOST);
        $isLocal = in_array($host, ['localhost', '127.0.0.1', '[::1]'], true);
        if ($address !== '' && !$isLocal && wp_parse_url($address, PHP_URL_SCHEME) !== 'https') {
            WC_Admin_Settings::add_error(__('The address of the gateway should start with https://.', 'turnpike-gateway'));
            return $this->get_option($key);
        }
        return $address;
    }

    /** Numbers of orders contain the prefix, and a digit at its end would join the number. */
    public function validate_order_prefix_field($key, $value): string
    {
        $prefix = trim((string) $value);
        if (preg_match('/^([A-Za-z0-9_.-]{0,31}[A-Za-z_.-])?$/D', $prefix) !== 1) {
            WC_Admin_Settings::add_error(__('The prefix should have at most 32 letters, digits, dots or hyphens, and not end with a digit.', 'turnpike-gateway'));
            return $this->get_option($key);
        }
        return $prefix;
    }

    /** An empty field leaves a secret as it is, because the form does not contain it. */
    public function validate_password_field($key, $value): string
    {
        $given = parent::validate_password_field($key, $value);
        return $given === '' ? $this->get_option($key) : $given;
    }

    public function generate_password_html($key, $data): string
    {
        $stored = $this->settings[$key] ?? '';
        $this->settings[$key] = '';
        $data['placeholder'] = $stored === '' ? '' : __('saved; type to replace it', 'turnpike-gateway');
        $html = parent::generate_password_html($key, $data);
        $this->settings[$key] = $stored;
        return $html;
    }

    /** An address, with the field of a text. */
    public function generate_url_html($key, $data): string
    {
        return $this->generate_text_html($key, ['type' => 'url'] + $data);
    }
}
