//! Hosts: network namespaces, each with a TUN device, addresses, routes and TCP settings.
