<?php

/**
 * Plugin Name: Turnpike for WooCommerce (example)
 * Description: Card payments and other methods on the payment page of a Turnpike gateway.
 * Version: 0.1.0
 * Requires PHP: 8.2
 * Requires Plugins: woocommerce
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

require_once __DIR__ . '/Turnpike.php';

add_action('plugins_loaded', function (): void {
    if (!class_exists('WC_Payment_Gateway')) {
        return;
    }
    require_once __DIR__ . '/class-turnpike-gateway.php';
    add_filter('woocommerce_payment_gateways', fn (array $gateways): array => [...$gateways, Turnpike_Gateway::class]);
});

add_action('before_woocommerce_init', function (): void {
    if (class_exists(\Automattic\WooCommerce\Utilities\FeaturesUtil::class)) {
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('custom_order_tables', __FILE__);
    }
});
