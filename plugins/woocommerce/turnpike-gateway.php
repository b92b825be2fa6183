<?php

/**
 * Plugin Name: Turnpike for WooCommerce
 * Description: Card payments and other methods on the payment page of a Turnpike gateway.
 * Version: 0.1.0
 * Requires at least: 6.5
 * Requires PHP: 8.2
 * Requires Plugins: woocommerce
 * WC requires at least: 8.4
 * WC tested up to: 11.0
 * Author: Turnpike
 * License: Apache-2.0
 * License URI: https://www.apache.org/licenses/LICENSE-2.0
 * Text Domain: turnpike-gateway
 * Domain Path: /languages
 */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use Automattic\WooCommerce\Blocks\Payments\PaymentMethodRegistry;
use Automattic\WooCommerce\Utilities\FeaturesUtil;

defined('ABSPATH') || exit;

/** The main file, from which addresses of assets are computed. */
const PLUGIN_FILE = __FILE__;

add_action('before_woocommerce_init', function (): void {
    foreach (['custom_order_tables', 'cart_checkout_blocks'] as $feature) {
        FeaturesUtil::declare_compatibility($feature, PLUGIN_FILE, true);
    }
});

add_action('init', function (): void {
    load_plugin_textdomain('turnpike-gateway', false, dirname(plugin_basename(PLUGIN_FILE)) . '/languages');
});

add_action('plugins_loaded', function (): void {
    if (!class_exists('WC_Payment_Gateway')) {
        return;
    }
    // Another plugin may contain the same client.
    if (!class_exists('TurnpikePay\Turnpike')) {
        require_once __DIR__ . '/lib/Turnpike.php';
    }
    foreach ([
        'Money', 'Payment', 'Lock', 'Attempt', 'Settings', 'Orders', 'SavedCards', 'Subscriptions', 'Refunds', 'Checks',
        'Sessions', 'Returns', 'Callbacks', 'Gateway',
    ] as $file) {
        require_once __DIR__ . "/includes/$file.php";
    }
    add_filter('woocommerce_payment_gateways', fn (array $gateways): array => [...$gateways, Gateway::class]);
    add_action('woocommerce_api_turnpike', Callbacks::receive(...));
    add_action('woocommerce_api_turnpike_return', Returns::receive(...));
    add_action(Checks::HOOK, Checks::run(...), 10, 3);
    Returns::register();
    Subscriptions::register();
});

add_action('woocommerce_blocks_payment_method_type_registration', function (PaymentMethodRegistry $registry): void {
    require_once __DIR__ . '/includes/Blocks.php';
    $registry->register(new Blocks());
});

add_filter('plugin_action_links_' . plugin_basename(PLUGIN_FILE), function (array $links): array {
    $address = admin_url('admin.php?page=wc-settings&tab=checkout&section=turnpike');
    $link = sprintf('<a href="%s">%s</a>', esc_url($address), esc_html__('Settings', 'turnpike-gateway'));
    return ['settings' => $link, ...$links];
});
