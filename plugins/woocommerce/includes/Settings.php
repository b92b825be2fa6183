<?php

/** The settings of the payment method, and the client that they describe. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use TurnpikePay\Turnpike;

defined('ABSPATH') || exit;

final class Settings
{
    public const OPTION = 'woocommerce_turnpike_settings';

    /** What the gateway is asked with; a payer waits for it. */
    private const TIMEOUT_SECONDS = 20;

    public static function get(string $name): string
    {
        $stored = get_option(self::OPTION, []);
        return (string) ($stored[$name] ?? self::fields()[$name]['default'] ?? '');
    }

    public static function isOn(string $name): bool
    {
        return self::get($name) === 'yes';
    }

    public static function client(int $retries = 2): Turnpike
    {
        return new Turnpike(
            url: self::get('url'),
            password: self::get('password'),
            merchantKey: self::get('merchant_key'),
            callbackSecret: self::get('callback_secret'),
            timeoutSeconds: self::TIMEOUT_SECONDS,
            retries: $retries,
        );
    }

    /** Whether everything is there that a payment needs. */
    public static function areComplete(): bool
    {
        foreach (['url', 'merchant_key', 'password', 'callback_secret'] as $name) {
            if (self::get($name) === '') {
                return false;
            }
        }
        return true;
    }

    /** @return array<string, array<string, mixed>> the fields of the form, as WooCommerce describes them */
    public static function fields(): array
    {
        return [
            'enabled' => [
                'title' => __('Enable', 'turnpike-gateway'),
                'label' => __('Offer Turnpike at the checkout', 'turnpike-gateway'),
                'type' => 'checkbox',
                'default' => 'no',
            ],
            'title' => [
                'title' => __('Title', 'turnpike-gateway'),
                'description' => __('What payers read at the checkout.', 'turnpike-gateway'),
                'type' => 'safe_text',
                'default' => __('Card and other methods', 'turnpike-gateway'),
            ],
            'description' => [
                'title' => __('Description', 'turnpike-gateway'),
                'type' => 'textarea',
                'default' => __('You pay on a secure page and come back to the shop.', 'turnpike-gateway'),
            ],
            'url' => [
                'title' => __('Address of the gateway', 'turnpike-gateway'),
                'description' => __('For example https://pay.example.com', 'turnpike-gateway'),
                'type' => 'url',
                'default' => '',
            ],
            'merchant_key' => [
                'title' => __('Merchant key', 'turnpike-gateway'),
                'type' => 'text',
                'default' => '',
            ],
            'password' => [
                'title' => __('Password', 'turnpike-gateway'),
                'description' => __('The password of the account, which signs requests.', 'turnpike-gateway'),
                'type' => 'password',
                'default' => '',
            ],
            'callback_secret' => [
                'title' => __('Callback secret', 'turnpike-gateway'),
                'description' => sprintf(
                    /* translators: %s: the address of the callbacks */
                    __('It starts with whsec_. The callback address of the account is %s', 'turnpike-gateway'),
                    '<code>' . esc_html(WC()->api_request_url('turnpike')) . '</code>',
                ),
                'type' => 'password',
                'default' => '',
            ],
            'order_prefix' => [
                'title' => __('Prefix of order numbers', 'turnpike-gateway'),
                'description' => __(
                    'Needed only if several shops use the same account: another one for each. Change it only while no payment is open.',
                    'turnpike-gateway',
                ),
                'type' => 'text',
                'default' => '',
            ],
            'saved_cards' => [
                'title' => __('Saved cards', 'turnpike-gateway'),
                'label' => __('Signed-in customers may save their cards for later payments', 'turnpike-gateway'),
                'type' => 'checkbox',
                'default' => 'yes',
            ],
        ];
    }
}
