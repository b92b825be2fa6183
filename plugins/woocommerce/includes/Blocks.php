<?php

/** The payment method in the blocks of the cart and the checkout. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

defined('ABSPATH') || exit;

final class Blocks extends AbstractPaymentMethodType
{
    protected $name = Gateway::ID;

    public function initialize(): void
    {
        $this->settings = get_option(Settings::OPTION, []);
    }

    public function is_active(): bool
    {
        return $this->gateway()?->is_available() ?? false;
    }

    public function get_payment_method_script_handles(): array
    {
        $dependencies = ['wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities'];
        wp_register_script(
            'turnpike-blocks',
            plugins_url('assets/blocks.js', PLUGIN_FILE),
            $dependencies,
            get_file_data(PLUGIN_FILE, ['Version'])[0],
            true,
        );
        return ['turnpike-blocks'];
    }

    public function get_payment_method_data(): array
    {
        return [
            'title' => Settings::get('title'),
            'description' => Settings::get('description'),
            'supports' => array_values(array_filter(
                $this->gateway()->supports ?? [],
                fn (string $feature): bool => $feature !== 'tokenization',
            )),
        ];
    }

    private function gateway(): ?Gateway
    {
        $gateway = WC()->payment_gateways()->payment_gateways()[Gateway::ID] ?? null;
        return $gateway instanceof Gateway ? $gateway : null;
    }
}
