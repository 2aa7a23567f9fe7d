/* pull 0.1.0: hashes of the host's micro-scenes, numerics 5 */
{sizeof(sb_golden), SB_BACKEND_CPU, "beads", 0xb5607499481bc443ull},
