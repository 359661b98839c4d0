def nvm_node_install_snippet(node_major: int = 22) -> str:
    return f"install-node {node_major}"
