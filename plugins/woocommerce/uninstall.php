<?php

/** Removes the settings, and with WC_REMOVE_ALL_DATA also saved cards and the data of orders, as WooCommerce does. */

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('woocommerce_turnpike_settings');
if (function_exists('as_unschedule_all_actions')) {
    as_unschedule_all_actions('', [], 'turnpike');
}

if (defined('WC_REMOVE_ALL_DATA') && WC_REMOVE_ALL_DATA === true) {
    global $wpdb;
    $tokens = "{$wpdb->prefix}woocommerce_payment_tokens";
    // phpcs:disable WordPress.DB.DirectDatabaseQuery, WordPress.DB.PreparedSQL.InterpolatedNotPrepared
    $wpdb->query(
        "DELETE meta FROM {$wpdb->prefix}woocommerce_payment_tokenmeta meta
        JOIN $tokens tokens ON tokens.token_id = meta.payment_token_id WHERE tokens.gateway_id = 'turnpike'"
    );
    $wpdb->query("DELETE FROM $tokens WHERE gateway_id = 'turnpike'");
    foreach ([$wpdb->postmeta, "{$wpdb->prefix}wc_orders_meta"] as $table) {
        if ($wpdb->get_var($wpdb->prepare('SHOW TABLES LIKE %s', $wpdb->esc_like($table))) === $table) {
            $wpdb->query("DELETE FROM $table WHERE meta_key LIKE '\\_turnpike\\_%'");
        }
    }
    // phpcs:enable
}
